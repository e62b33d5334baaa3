//! TetGen `.node` and `.ele`: vertices in one file, tets in the other, beside it.
//!
//! Vertices are counted from 0 or 1, as the first one says. Their attributes, which have no names, become `attribute0`,
//! `attribute1` …; boundary markers and region numbers are passed over. Tets of ten nodes become straight.

use std::io::{self, Write};

use glam::DVec3;

use super::tets::finish_tets;
use super::text::{Lines, Words, parse_f64, parse_integer, quote};
use super::{Malformed, Place, Warning};
use crate::mesh::{TetMesh, Values};

/// Reads the two files.
///
/// # Errors
///
/// [`Malformed`] with the line of what makes no sense, or if there is no tet.
pub fn read(node: &[u8], ele: &[u8], warnings: &mut Vec<Warning>) -> Result<TetMesh, Malformed> {
    let mut nodes = Table::new(node, "node");
    let [count, dimension, width, _] = nodes.header()?;
    if dimension != 3 {
        let what = format!("the vertices have {dimension} dimensions");
        return Err(nodes.problem(what, "tets need three"));
    }
    let count = nodes.check_room(count, 8)?;
    let width = nodes.check_room(width, 2)?;
    let mut points = Vec::with_capacity(count);
    let mut values: Vec<Vec<f32>> = vec![Vec::new(); width];
    let mut first = 0;
    for i in 0..count as i64 {
        let mut row = nodes.row()?;
        let number = nodes.integer(&mut row)?;
        if i == 0 {
            first = number;
        }
        if number != first + i || !(0..=1).contains(&first) {
            let what = format!("vertex {number} where {} should be", first.clamp(0, 1) + i);
            return Err(nodes.problem(what, "number the vertices in a row, from 0 or 1"));
        }
        let at = [nodes.double(&mut row)?, nodes.double(&mut row)?, nodes.double(&mut row)?];
        points.push(DVec3::from_array(at).as_vec3());
        for values in &mut values {
            values.push(nodes.double(&mut row)? as f32);
        }
    }
    let mut mesh = TetMesh::new(points, Vec::new());
    mesh.tets = read_tets(&mut Table::new(ele, "ele"), [first, count as i64], warnings)?;
    for (k, values) in values.into_iter().enumerate() {
        mesh.attributes.set(format!("attribute{k}"), Values::Scalar(values));
    }
    finish_tets(mesh, warnings)
}

fn read_tets(
    table: &mut Table<'_>,
    [first, vertices]: [i64; 2],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<[u32; 4]>, Malformed> {
    let [count, corners, _, _] = table.header()?;
    if corners != 4 && corners != 10 {
        let what = format!("the elements have {corners} nodes");
        return Err(table.problem(what, "tets have 4 or 10"));
    }
    if corners == 10 {
        let what = format!("{count} curved tets became straight");
        warnings.push(Warning::new(Place::File, what));
    }
    let count = table.check_room(count, 9)?;
    let mut tets = Vec::with_capacity(count);
    for _ in 0..count {
        let mut row = table.row()?;
        let _number = table.integer(&mut row)?;
        let mut tet = [0; 4];
        for corner in &mut tet {
            let number = table.integer(&mut row)?;
            if !(first..first + vertices).contains(&number) {
                let last = first + vertices - 1;
                let what = format!("a tet names vertex {number}; they are {first} to {last}");
                return Err(table.problem(what, "both files must be of one mesh"));
            }
            *corner = (number - first) as u32;
        }
        tets.push(tet);
    }
    Ok(tets)
}

/// Rows of numbers; comments start with `#`.
struct Table<'a> {
    lines: Lines<'a>,
    ending: &'static str,
}

impl<'a> Table<'a> {
    fn new(bytes: &'a [u8], ending: &'static str) -> Self {
        Self { lines: Lines::new(bytes), ending }
    }

    fn problem(&self, what: impl Into<String>, fix: &str) -> Malformed {
        let what: String = what.into();
        let what = format!("in the .{} file, {what}", self.ending);
        Malformed::new(Place::Line(self.lines.number()), what, fix)
    }

    /// The next line with anything in it.
    fn row(&mut self) -> Result<Words<'a>, Malformed> {
        while let Some(line) = self.lines.next_line() {
            let end = memchr::memchr(b'#', line).unwrap_or(line.len());
            let mut words = Words::new(&line[..end]);
            if !words.is_done() {
                return Ok(words);
            }
        }
        Err(self.problem("lines are missing", "it was cut off, or a count in it is too large"))
    }

    /// The numbers of the first row; those that are missing are zero.
    fn header(&mut self) -> Result<[i64; 4], Malformed> {
        let mut row = self.row()?;
        let mut header = [0; 4];
        for number in &mut header {
            if !row.is_done() {
                *number = self.integer(&mut row)?;
            }
        }
        Ok(header)
    }

    fn integer(&self, row: &mut Words<'a>) -> Result<i64, Malformed> {
        self.number(row, parse_integer)
    }

    fn double(&self, row: &mut Words<'a>) -> Result<f64, Malformed> {
        self.number(row, parse_f64)
    }

    fn number<T>(
        &self,
        row: &mut Words<'a>,
        parse: fn(&[u8]) -> Option<T>,
    ) -> Result<T, Malformed> {
        let word = row.word();
        word.and_then(parse).ok_or_else(|| match word {
            Some(word) => {
                let what = format!("{} is not a number of the right kind", quote(word));
                self.problem(what, "correct it, or export the file again")
            }
            None => self.problem("a row is too short", "correct it, or export the file again"),
        })
    }

    /// A count, if so many things of at least so many bytes can be left.
    fn check_room(&self, count: i64, least: usize) -> Result<usize, Malformed> {
        let left = self.lines.rest().len();
        usize::try_from(count).ok().filter(|&n| n <= left / least + 1).ok_or_else(|| {
            let what = format!("{count} entries cannot be in the {left} bytes left");
            self.problem(what, "the file was cut off, or a count in it is wrong")
        })
    }
}

/// Writes the vertices with all numbers that are theirs, counted from 0.
///
/// # Errors
///
/// What `out` reports.
pub fn write_node(mesh: &TetMesh, out: &mut impl Write) -> io::Result<()> {
    let width: usize = mesh.attributes.iter().map(|a| a.values.width()).sum();
    writeln!(out, "{} 3 {width} 0", mesh.positions.len())?;
    for (i, p) in mesh.positions.iter().enumerate() {
        write!(out, "{i} {} {} {}", p.x, p.y, p.z)?;
        for attribute in &mesh.attributes {
            let (width, floats) = (attribute.values.width(), attribute.values.as_floats());
            floats[i * width..(i + 1) * width].iter().try_for_each(|x| write!(out, " {x}"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes the tets.
///
/// # Errors
///
/// What `out` reports.
pub fn write_ele(mesh: &TetMesh, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{} 4 0", mesh.tets.len())?;
    for (i, [a, b, c, d]) in mesh.tets.iter().enumerate() {
        writeln!(out, "{i} {a} {b} {c} {d}")?;
    }
    Ok(())
}
