//! Writes tets as Gmsh files.

use std::io::{self, Write};

use crate::mesh::TetMesh;

/// A version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// 2.2: what most programs read.
    #[default]
    V22,
    /// 4.1: what Gmsh writes today.
    V41,
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// As decimals that give the same bits back.
    #[default]
    Text,
    /// As bytes, the smallest first.
    Binary,
}

/// The element type of a straight tet.
const TET: i32 = 4;

/// Writes tets and the values at their vertices.
///
/// # Errors
///
/// What `out` reports.
pub fn write(
    mesh: &TetMesh,
    version: Version,
    encoding: Encoding,
    out: &mut impl Write,
) -> io::Result<()> {
    let number = match version {
        Version::V22 => "2.2",
        Version::V41 => "4.1",
    };
    writeln!(out, "$MeshFormat\n{number} {} 8", u8::from(encoding == Encoding::Binary))?;
    if encoding == Encoding::Binary {
        out.write_all(&1_i32.to_le_bytes())?;
        writeln!(out)?;
    }
    writeln!(out, "$EndMeshFormat\n$Nodes")?;
    match version {
        Version::V22 => write_22(mesh, encoding, out)?,
        Version::V41 => write_41(mesh, encoding, out)?,
    }
    writeln!(out, "$EndElements")?;
    write_data(mesh, encoding, out)
}

fn write_22(mesh: &TetMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", mesh.positions.len())?;
    for (number, p) in (1_i32..).zip(&mesh.positions) {
        match encoding {
            Encoding::Text => writeln!(out, "{number} {} {} {}", p.x, p.y, p.z)?,
            Encoding::Binary => {
                out.write_all(&number.to_le_bytes())?;
                doubles(&p.to_array(), out)?;
            }
        }
    }
    end_binary(encoding, out)?;
    writeln!(out, "$EndNodes\n$Elements\n{}", mesh.tets.len())?;
    if encoding == Encoding::Binary && !mesh.tets.is_empty() {
        ints(&[TET, mesh.tets.len() as i32, 2], out)?;
    }
    for (number, tet) in (1_i32..).zip(&mesh.tets) {
        let [a, b, c, d] = tet.map(|v| v as i32 + 1);
        match encoding {
            Encoding::Text => writeln!(out, "{number} {TET} 2 1 1 {a} {b} {c} {d}")?,
            Encoding::Binary => ints(&[number, 1, 1, a, b, c, d], out)?,
        }
    }
    end_binary(encoding, out)
}

fn write_41(mesh: &TetMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    let (nodes, tets) = (mesh.positions.len() as u64, mesh.tets.len() as u64);
    match encoding {
        Encoding::Text => {
            writeln!(out, "1 {nodes} 1 {nodes}\n3 1 0 {nodes}")?;
            (1..=nodes).try_for_each(|number| writeln!(out, "{number}"))?;
            for p in &mesh.positions {
                writeln!(out, "{} {} {}", p.x, p.y, p.z)?;
            }
            writeln!(out, "$EndNodes\n$Elements\n1 {tets} 1 {tets}\n3 1 {TET} {tets}")?;
            for (number, tet) in (1..).zip(&mesh.tets) {
                let [a, b, c, d] = tet.map(|v| v + 1);
                writeln!(out, "{number} {a} {b} {c} {d}")?;
            }
        }
        Encoding::Binary => {
            sizes(&[1, nodes, 1, nodes], out)?;
            ints(&[3, 1, 0], out)?;
            sizes(&[nodes], out)?;
            (1..=nodes).try_for_each(|number| sizes(&[number], out))?;
            mesh.positions.iter().try_for_each(|p| doubles(&p.to_array(), out))?;
            writeln!(out, "\n$EndNodes\n$Elements")?;
            sizes(&[1, tets, 1, tets], out)?;
            ints(&[3, 1, TET], out)?;
            sizes(&[tets], out)?;
            for (number, tet) in (1..).zip(&mesh.tets) {
                sizes(&[number], out)?;
                sizes(&tet.map(|v| u64::from(v) + 1), out)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The attributes, in 1, 3 or 9 components, as the format has them; a name's quotes become plain.
fn write_data(mesh: &TetMesh, encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    for attribute in &mesh.attributes {
        let values = &attribute.values;
        let name = attribute.name.replace(['"', '\n', '\r'], "'");
        let (count, width) = (values.len(), values.width());
        writeln!(out, "$NodeData\n1\n\"{name}\"\n1\n0\n3\n0\n{width}\n{count}")?;
        for (number, row) in (1_i32..).zip(values.as_floats().chunks(width)) {
            match encoding {
                Encoding::Text => {
                    write!(out, "{number}")?;
                    row.iter().try_for_each(|x| write!(out, " {x}"))?;
                    writeln!(out)?;
                }
                Encoding::Binary => {
                    out.write_all(&number.to_le_bytes())?;
                    doubles(row, out)?;
                }
            }
        }
        end_binary(encoding, out)?;
        writeln!(out, "$EndNodeData")?;
    }
    Ok(())
}

fn end_binary(encoding: Encoding, out: &mut impl Write) -> io::Result<()> {
    if encoding == Encoding::Binary { writeln!(out) } else { Ok(()) }
}

fn ints(values: &[i32], out: &mut impl Write) -> io::Result<()> {
    values.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
}

fn sizes(values: &[u64], out: &mut impl Write) -> io::Result<()> {
    values.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))
}

fn doubles(values: &[f32], out: &mut impl Write) -> io::Result<()> {
    values.iter().try_for_each(|&v| out.write_all(&f64::from(v).to_le_bytes()))
}
