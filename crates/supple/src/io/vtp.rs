//! VTK XML polydata (`.vtp`), written with numbers as they are in memory, and lists of them over time (`.pvd`).
//!
//! All attributes of a mesh become point data under their names; `ParaView` and VTK open the result.

use std::io::{self, Write};

use crate::mesh::TriMesh;
use crate::mesh::attribute::NORMAL;

/// Writes a mesh with its attributes.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    let (points, polys) = (mesh.positions.len(), mesh.triangles.len());
    writeln!(out, "<?xml version=\"1.0\"?>")?;
    writeln!(
        out,
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
    )?;
    writeln!(out, "<PolyData>\n<Piece NumberOfPoints=\"{points}\" NumberOfPolys=\"{polys}\">")?;
    let mut blocks = Blocks::default();
    let normals = if mesh.attributes.normals().is_some() { " Normals=\"normal\"" } else { "" };
    writeln!(out, "<PointData{normals}>")?;
    for attribute in &mesh.attributes {
        let width = attribute.values.width();
        let name =
            if attribute.name == NORMAL { NORMAL.to_owned() } else { escaped(&attribute.name) };
        blocks.array(&name, "Float32", width, floats(attribute.values.as_floats()), out)?;
    }
    writeln!(out, "</PointData>\n<Points>")?;
    blocks.array("Points", "Float32", 3, floats(bytemuck::cast_slice(&mesh.positions)), out)?;
    writeln!(out, "</Points>\n<Polys>")?;
    let corners =
        mesh.triangles.iter().flatten().flat_map(|i| i64::from(*i).to_le_bytes()).collect();
    blocks.array("connectivity", "Int64", 1, corners, out)?;
    let ends = (1..=polys as i64).flat_map(|t| (3 * t).to_le_bytes()).collect();
    blocks.array("offsets", "Int64", 1, ends, out)?;
    writeln!(out, "</Polys>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">")?;
    out.write_all(b"_")?;
    for bytes in &blocks.data {
        out.write_all(&(bytes.len() as u64).to_le_bytes())?;
        out.write_all(bytes)?;
    }
    writeln!(out, "\n</AppendedData>\n</VTKFile>")
}

/// Writes a list of files with their times.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write_series(files: &[(f64, String)], out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>"
    )?;
    for (time, file) in files {
        writeln!(out, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{}\"/>", escaped(file))?;
    }
    writeln!(out, "</Collection>\n</VTKFile>")
}

/// Arrays that follow the text.
#[derive(Default)]
struct Blocks {
    data: Vec<Vec<u8>>,
    offset: usize,
}

impl Blocks {
    fn array(
        &mut self,
        name: &str,
        kind: &str,
        width: usize,
        bytes: Vec<u8>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let offset = self.offset;
        self.offset += size_of::<u64>() + bytes.len();
        self.data.push(bytes);
        writeln!(
            out,
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{width}\" \
             format=\"appended\" offset=\"{offset}\"/>"
        )
    }
}

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::mesh::Values;

    /// Offsets must point at the blocks, and blocks say their own length.
    #[test]
    fn every_array_is_where_its_offset_says() {
        let mut mesh = TriMesh::new(vec![Vec3::ZERO, Vec3::X, Vec3::Y], vec![[0, 1, 2]]);
        mesh.attributes.set("a&b".to_owned(), Values::Scalar(vec![1.0, 2.0, 3.0]));
        let mut bytes = Vec::new();
        write(&mesh, &mut bytes).unwrap();
        let marker = b"<AppendedData encoding=\"raw\">\n_";
        let start = bytes.windows(marker.len()).position(|w| w == marker).unwrap() + marker.len();
        let text = std::str::from_utf8(&bytes[..start]).unwrap();
        assert!(text.contains("Name=\"a&amp;b\""), "{text}");
        let lengths = text.split("offset=\"").skip(1).map(|rest| {
            let offset: usize = rest[..rest.find('"').unwrap()].parse().unwrap();
            let at = start + offset;
            u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
        });
        assert_eq!(lengths.collect::<Vec<_>>(), [12, 36, 24, 8]);
    }
}
