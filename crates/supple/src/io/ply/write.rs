//! Writing PLY: binary, little endian.

use std::io::{self, Write};

use glam::Vec3;

use super::super::color;
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::{Attribute, Attributes, PointCloud, TriMesh, Values};

/// Writes a mesh as binary PLY with all its attributes.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    let columns = write_vertex_header(mesh.positions.len(), &mesh.attributes, out)?;
    writeln!(out, "element face {}", mesh.triangles.len())?;
    writeln!(out, "property list uchar uint vertex_indices")?;
    for corner in &mesh.corners {
        let name = match corner.name.as_str() {
            UV if corner.values.width() == 2 => "texcoord".to_owned(),
            other => format!("corner_{}", one_word(other)),
        };
        writeln!(out, "property list uchar float {name}")?;
    }
    writeln!(out, "end_header")?;
    write_vertices(&mesh.positions, &columns, out)?;
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        out.write_all(&[3])?;
        out.write_all(&le(*triangle, u32::to_le_bytes))?;
        for corner in &mesh.corners {
            let width = corner.values.width();
            out.write_all(&[3 * width as u8])?;
            for &index in &corner.triangles[t] {
                let at = index as usize * width;
                for value in &corner.values.as_floats()[at..at + width] {
                    out.write_all(&value.to_le_bytes())?;
                }
            }
        }
    }
    Ok(())
}

/// Writes points as binary PLY with all their attributes.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write_cloud(cloud: &PointCloud, out: &mut impl Write) -> io::Result<()> {
    let columns = write_vertex_header(cloud.positions.len(), &cloud.attributes, out)?;
    writeln!(out, "end_header")?;
    write_vertices(&cloud.positions, &columns, out)
}

fn le(numbers: [u32; 3], bytes: impl Fn(u32) -> [u8; 4]) -> [u8; 12] {
    let mut row = [0; 12];
    for (slot, number) in row.chunks_exact_mut(4).zip(numbers) {
        slot.copy_from_slice(&bytes(number));
    }
    row
}

/// The numbers of one attribute as the file stores them.
enum Column<'a> {
    Floats { values: &'a [f32], width: usize },
    Bytes(Vec<[u8; 4]>),
    Doubles(Vec<[f64; 4]>),
}

/// Writes the header up to the vertex properties; returns their columns in that order.
fn write_vertex_header<'a>(
    count: usize,
    attributes: &'a Attributes,
    out: &mut impl Write,
) -> io::Result<Vec<Column<'a>>> {
    write!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {count}\n")?;
    write!(out, "property float x\nproperty float y\nproperty float z\n")?;
    let mut columns = Vec::new();
    // Those that readers know by name, as the alpha of colours, come before others called so.
    let mut taken: Vec<String> = ["x", "y", "z"].map(str::to_owned).into();
    let reserved = attributes.iter().flat_map(known_names).map(|name| (*name).to_owned());
    taken.extend(reserved);
    for attribute in attributes {
        let column = column(attribute);
        let kind = match column {
            Column::Floats { .. } => "float",
            Column::Bytes(_) => "uchar",
            Column::Doubles(_) => "double",
        };
        for mut name in property_names(attribute) {
            if known_names(attribute).is_empty() {
                while taken.contains(&name) {
                    name.push('_');
                }
                taken.push(name.clone());
            }
            writeln!(out, "property {kind} {name}")?;
        }
        columns.push(column);
    }
    Ok(columns)
}

fn column(attribute: &Attribute) -> Column<'_> {
    if attribute.name == COLOR
        && let Values::Vec4(colors) = &attribute.values
    {
        return match color::all_to_bytes(colors) {
            Some(bytes) => Column::Bytes(bytes),
            None => Column::Doubles(colors.iter().map(|&c| color::to_coded(c)).collect()),
        };
    }
    Column::Floats { values: attribute.values.as_floats(), width: attribute.values.width() }
}

/// The names that readers know an attribute by; none for most.
fn known_names(attribute: &Attribute) -> &'static [&'static str] {
    match (attribute.name.as_str(), attribute.values.width()) {
        (NORMAL, 3) => &["nx", "ny", "nz"],
        (UV, 2) => &["s", "t"],
        (COLOR, 4) => &["red", "green", "blue", "alpha"],
        _ => &[],
    }
}

fn property_names(attribute: &Attribute) -> Vec<String> {
    let known = known_names(attribute);
    if !known.is_empty() {
        return known.iter().map(|&name| name.to_owned()).collect();
    }
    let name = one_word(&attribute.name);
    match attribute.values.width() {
        1 => vec![name],
        width => ["x", "y", "z", "w"][..width].iter().map(|s| format!("{name}_{s}")).collect(),
    }
}

/// A name without blanks, as the header needs it.
fn one_word(name: &str) -> String {
    let word: String = name.split_whitespace().collect::<Vec<_>>().join("_");
    if word.is_empty() { "unnamed".to_owned() } else { word }
}

fn write_vertices(
    positions: &[Vec3],
    columns: &[Column<'_>],
    out: &mut impl Write,
) -> io::Result<()> {
    for (i, p) in positions.iter().enumerate() {
        out.write_all(&le(p.to_array().map(f32::to_bits), u32::to_le_bytes))?;
        for column in columns {
            match column {
                Column::Floats { values, width } => {
                    for value in &values[i * width..(i + 1) * width] {
                        out.write_all(&value.to_le_bytes())?;
                    }
                }
                Column::Bytes(colors) => out.write_all(&colors[i])?,
                Column::Doubles(colors) => {
                    for value in colors[i] {
                        out.write_all(&value.to_le_bytes())?;
                    }
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use glam::Vec4;

    use super::*;

    #[test]
    fn no_two_properties_have_one_name() {
        let mut mesh = TriMesh::new(vec![Vec3::ZERO; 3], vec![[0, 1, 2]]);
        for name in ["alpha", "x", "nx"] {
            mesh.attributes.set(name.to_owned(), Values::Scalar(vec![0.5; 3]));
        }
        mesh.attributes.set(COLOR.to_owned(), Values::Vec4(vec![Vec4::ONE; 3]));
        let mut file = Vec::new();
        write(&mesh, &mut file).unwrap();
        let text = String::from_utf8_lossy(&file);
        let mut names: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("property float ")).collect();
        assert_eq!(names, ["x", "y", "z", "alpha_", "x_", "nx"], "{text}");
        names.extend(text.lines().filter_map(|line| line.strip_prefix("property uchar ")));
        assert_eq!(names[6..], ["red", "green", "blue", "alpha"], "as readers know them");
    }
}
