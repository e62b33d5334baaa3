//! MEDIT `.mesh`, as text: what `MEDIT`, `mmg`, `TetWild` and `libigl` write.
//!
//! `Vertices` and `Tetrahedra` are read; the references behind them and all other sections (triangles, edges, corners,
//! normals …) are passed over: the boundary is found again. Hexahedra, prisms and pyramids are left out with a warning.

use std::io::{self, Write};

use glam::DVec3;

use super::tets::finish_tets;
use super::text::{Tokens, parse_f64, parse_integer, quote, without_mark};
use super::{Malformed, Place, Warning};
use crate::mesh::TetMesh;

/// Reads a MEDIT file.
///
/// # Errors
///
/// [`Malformed`] with the line of what makes no sense, or if there is no tet.
pub fn read(bytes: &[u8], warnings: &mut Vec<Warning>) -> Result<TetMesh, Malformed> {
    let mut reader = Reader { tokens: Tokens::new(without_mark(bytes), 1), ..Reader::default() };
    while let Some(word) = reader.word() {
        match word {
            b"End" => break,
            b"Dimension" => reader.dimension()?,
            b"Vertices" => reader.vertices()?,
            b"Tetrahedra" => reader.tetrahedra()?,
            b"Hexahedra" | b"Prisms" | b"Pyramids" => {
                let count = reader.count(2)?;
                reader.other_solids += count;
            }
            // The rest of a section that is not read, or the name of the next.
            _ => {}
        }
    }
    if reader.other_solids > 0 {
        let count = reader.other_solids;
        let what = format!("{count} hexahedra, prisms or pyramids left out: only tets are read");
        warnings.push(Warning::new(Place::File, what));
    }
    let positions = reader.points.iter().map(|p| p.as_vec3()).collect();
    finish_tets(TetMesh::new(positions, reader.tets), warnings)
}

#[derive(Default)]
struct Reader<'a> {
    tokens: Tokens<'a>,
    points: Vec<DVec3>,
    tets: Vec<[u32; 4]>,
    other_solids: usize,
}

impl<'a> Reader<'a> {
    /// The next word that is no comment.
    fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            let word = self.tokens.word()?;
            if !word.starts_with(b"#") {
                return Some(word);
            }
            let _ = self.tokens.rest_of_line();
        }
    }

    fn problem(&self, what: impl Into<String>, fix: &str) -> Malformed {
        Malformed::new(self.tokens.place(), what, fix)
    }

    fn number<T>(&mut self, parse: fn(&[u8]) -> Option<T>) -> Result<T, Malformed> {
        let Some(word) = self.word() else {
            let fix = "it was cut off, or a count in it is too large";
            return Err(self.problem("the file ends where a number should be", fix));
        };
        let what = || format!("{} is not a number", quote(word));
        parse(word).ok_or_else(|| self.problem(what(), "correct it, or export the file again"))
    }

    /// A number of things, each at least so many bytes.
    fn count(&mut self, least: usize) -> Result<usize, Malformed> {
        let count = self.number(parse_integer)?;
        let left = self.tokens.bytes_left();
        usize::try_from(count).ok().filter(|&n| n <= left / least + 1).ok_or_else(|| {
            let what = format!("{count} entries cannot be in the {left} bytes left");
            self.problem(what, "the file was cut off, or a count in it is wrong")
        })
    }

    fn dimension(&mut self) -> Result<(), Malformed> {
        match self.number(parse_integer)? {
            3 => Ok(()),
            other => {
                let what = format!("the mesh has {other} dimensions");
                Err(self.problem(what, "tets need three"))
            }
        }
    }

    fn vertices(&mut self) -> Result<(), Malformed> {
        let count = self.count(8)?;
        self.points.reserve(count);
        for _ in 0..count {
            let at = [(); 3].map(|()| self.number(parse_f64));
            let [x, y, z] = at;
            self.points.push(DVec3::new(x?, y?, z?));
            let _reference = self.number(parse_f64)?;
        }
        Ok(())
    }

    fn tetrahedra(&mut self) -> Result<(), Malformed> {
        let count = self.count(10)?;
        self.tets.reserve(count);
        for _ in 0..count {
            let [a, b, c, d] = [(); 4].map(|()| self.corner());
            self.tets.push([a?, b?, c?, d?]);
            let _reference = self.number(parse_integer)?;
        }
        Ok(())
    }

    fn corner(&mut self) -> Result<u32, Malformed> {
        let number = self.number(parse_integer)?;
        let count = self.points.len() as i64;
        if (1..=count).contains(&number) {
            return Ok((number - 1) as u32);
        }
        let what = format!("a tet names vertex {number}, but there are {count}, counted from 1");
        Err(self.problem(what, "vertices must come before tets; export the file again"))
    }
}

/// Writes tets, and their boundary as triangles.
///
/// # Errors
///
/// What `out` reports.
pub fn write(mesh: &TetMesh, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "MeshVersionFormatted 1\nDimension 3\nVertices\n{}", mesh.positions.len())?;
    for p in &mesh.positions {
        writeln!(out, "{} {} {} 0", p.x, p.y, p.z)?;
    }
    let boundary = mesh.boundary();
    writeln!(out, "Triangles\n{}", boundary.len())?;
    for [a, b, c] in boundary.iter().map(|face| face.map(|v| v + 1)) {
        writeln!(out, "{a} {b} {c} 0")?;
    }
    writeln!(out, "Tetrahedra\n{}", mesh.tets.len())?;
    for [a, b, c, d] in mesh.tets.iter().map(|tet| tet.map(|v| v + 1)) {
        writeln!(out, "{a} {b} {c} {d} 0")?;
    }
    writeln!(out, "End")
}
