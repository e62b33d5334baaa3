//! USD ascii layers: one `Mesh`, still or with time-sampled points.
//!
//! Y is up and a unit is a metre. Time codes are frame numbers; `timeCodesPerSecond` is the frame
//! rate. Texture coordinates are the primvar `st`, colours `displayColor`, and painted fields
//! primvars of their own name. A take has no normals, as those at rest would be wrong; programs
//! compute them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use glam::Vec3;

use super::Take;
use super::take::rest_mesh;
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::measure::Bounds;
use crate::mesh::{TriMesh, Values};
use crate::rig::asset::UvOrigin;

/// Writes a mesh as a layer without time.
///
/// # Errors
///
/// Whatever `out` reports.
pub fn write(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    let name = identifier(&mesh.name, "Mesh");
    write_layer_header(&name, None, out)?;
    write_topology(&name, mesh, out)?;
    write!(out, "    point3f[] points = ")?;
    write_tuples(floats(&mesh.positions), 3, out)?;
    if let Some(bounds) = Bounds::of(&mesh.positions) {
        writeln!(out, "\n    float3[] extent = {}", extent(bounds))?;
    }
    if let Some((values, interpolation)) = normals(mesh) {
        write!(out, "    normal3f[] normals = ")?;
        write_tuples(values.as_floats(), 3, out)?;
        writeln!(out, " (\n        interpolation = \"{interpolation}\"\n    )")?;
    }
    write_primvars(mesh, out)?;
    writeln!(out, "}}")
}

/// Writes a take as a layer with time-sampled points.
///
/// # Errors
///
/// Whatever `out` or the take reports.
pub fn write_take(take: &mut Take<'_>, out: &mut impl Write) -> io::Result<()> {
    let mesh = Cow::Borrowed(rest_mesh(take)?);
    let mesh = &take.asset.uv_origin.convert(UvOrigin::Bottom, mesh);
    let name = identifier(&mesh.name, "Mesh");
    let last = take.first_frame + take.frames.saturating_sub(1);
    write_layer_header(&name, Some((take.fps, take.first_frame, last)), out)?;
    write_topology(&name, mesh, out)?;
    writeln!(out, "    point3f[] points.timeSamples = {{")?;
    let mut positions = mesh.positions.clone();
    let mut extents = String::new();
    for frame in 0..take.frames {
        let code = take.first_frame + frame;
        (take.positions)(frame, &mut positions)?;
        write!(out, "        {code}: ")?;
        write_tuples(floats(&positions), 3, out)?;
        writeln!(out, ",")?;
        if let Some(bounds) = Bounds::of(&positions) {
            // Writing to a string cannot fail.
            let _ = writeln!(extents, "        {code}: {},", extent(bounds));
        }
    }
    writeln!(out, "    }}\n    float3[] extent.timeSamples = {{\n{extents}    }}")?;
    write_primvars(mesh, out)?;
    writeln!(out, "}}")
}

fn write_layer_header(
    name: &str,
    time: Option<(f64, u32, u32)>,
    out: &mut impl Write,
) -> io::Result<()> {
    writeln!(out, "#usda 1.0\n(\n    defaultPrim = \"{name}\"")?;
    if let Some((fps, first, last)) = time {
        writeln!(out, "    startTimeCode = {first}\n    endTimeCode = {last}")?;
        writeln!(out, "    timeCodesPerSecond = {fps}\n    framesPerSecond = {fps}")?;
    }
    writeln!(out, "    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n")
}

/// Opens the prim and writes what does not change over time.
fn write_topology(name: &str, mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "def Mesh \"{name}\"\n{{\n    uniform token subdivisionScheme = \"none\"")?;
    write!(out, "    int[] faceVertexCounts = ")?;
    write_list(mesh.triangles.iter().map(|_| 3), out)?;
    write!(out, "\n    int[] faceVertexIndices = ")?;
    write_list(mesh.triangles.iter().flatten().copied(), out)?;
    writeln!(out)
}

/// The normals of the corners, or else those of the vertices, and how they are interpolated.
fn normals(mesh: &TriMesh) -> Option<(Cow<'_, Values>, &'static str)> {
    let corner = mesh.corners.iter().find(|c| c.name == NORMAL && c.values.width() == 3);
    if let Some(corner) = corner {
        let indices = corner.triangles.as_flattened();
        return Some((Cow::Owned(corner.values.gather(indices)), "faceVarying"));
    }
    let values = mesh.attributes.get(NORMAL).filter(|v| v.width() == 3)?;
    Some((Cow::Borrowed(values), "vertex"))
}

fn write_primvars(mesh: &TriMesh, out: &mut impl Write) -> io::Result<()> {
    let mut used: Vec<String> = Vec::new();
    for corner in mesh.corners.iter().filter(|c| c.name != NORMAL) {
        let name = write_primvar(&corner.name, &corner.values, "faceVarying", &used, out)?;
        write!(out, "    int[] primvars:{name}:indices = ")?;
        write_list(corner.triangles.iter().flatten().copied(), out)?;
        writeln!(out)?;
        used.push(name);
    }
    for a in mesh.attributes.iter().filter(|a| a.name != NORMAL) {
        used.push(write_primvar(&a.name, &a.values, "vertex", &used, out)?);
    }
    Ok(())
}

/// Writes the values of one primvar and returns its name.
fn write_primvar(
    name: &str,
    values: &Values,
    interpolation: &str,
    used: &[String],
    out: &mut impl Write,
) -> io::Result<String> {
    let (kind, wanted) = match (name, values.width()) {
        (UV, 2) => ("texCoord2f", "st".to_owned()),
        (COLOR, 4) => ("color3f", "displayColor".to_owned()),
        (_, width) => {
            (["float", "float2", "float3", "float4"][width - 1], identifier(name, "field"))
        }
    };
    let mut name = wanted;
    while used.contains(&name) {
        name.push('_');
    }
    write!(out, "    {kind}[] primvars:{name} = ")?;
    match values {
        Values::Scalar(numbers) => write_list(numbers.iter().copied(), out)?,
        Values::Vec4(colors) if kind == "color3f" => {
            let rgb: Vec<f32> = colors.iter().flat_map(|c| c.truncate().to_array()).collect();
            write_tuples(&rgb, 3, out)?;
        }
        _ => write_tuples(values.as_floats(), values.width(), out)?,
    }
    writeln!(out, " (\n        interpolation = \"{interpolation}\"\n    )")?;
    Ok(name)
}

fn floats(points: &[Vec3]) -> &[f32] {
    bytemuck::cast_slice(points)
}

fn extent(Bounds { min, max }: Bounds) -> String {
    format!("[({}, {}, {}), ({}, {}, {})]", min.x, min.y, min.z, max.x, max.y, max.z)
}

fn write_list<T: std::fmt::Display>(
    items: impl Iterator<Item = T>,
    out: &mut impl Write,
) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, item) in items.enumerate() {
        let comma = if i > 0 { ", " } else { "" };
        write!(out, "{comma}{item}")?;
    }
    out.write_all(b"]")
}

fn write_tuples(numbers: &[f32], width: usize, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"[")?;
    for (i, row) in numbers.chunks_exact(width).enumerate() {
        out.write_all(if i > 0 { b", (" } else { b"(" })?;
        for (k, x) in row.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            write!(out, "{comma}{x}")?;
        }
        out.write_all(b")")?;
    }
    out.write_all(b"]")
}

/// A name as USD allows it: letters, digits and underscores, not starting with a digit.
fn identifier(name: &str, fallback: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut word: String = name.chars().map(legal).collect();
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        word.insert(0, '_');
    }
    if word.is_empty() { fallback.to_owned() } else { word }
}
