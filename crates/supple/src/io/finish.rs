//! What every reader does last: check the mesh, mend what is harmless, and say so.

use glam::Vec3;

use super::{Malformed, Place, Warning};
use crate::mesh::{Attributes, PointCloud, TriMesh, Values};
use crate::rig::asset::{Asset, UvOrigin};

/// The asset of one mesh, checked; warns of triangles without area and of values that are not
/// finite, which become zero. Only glTF counts texture coordinates from the top, and it comes by
/// another way.
pub(super) fn finish(mut mesh: TriMesh, warnings: &mut Vec<Warning>) -> Result<Asset, Malformed> {
    if mesh.triangles.is_empty() {
        let TriMesh { name, positions, attributes, .. } = mesh;
        return finish_cloud(PointCloud { name, positions, attributes }, warnings);
    }
    mend_attributes(&mut mesh.attributes, warnings);
    for corner in &mut mesh.corners {
        mend(&corner.name, &mut corner.values, warnings);
    }
    mesh.validate().map_err(|defect| {
        Malformed::new(Place::File, defect.to_string(), "correct it, or export the file again")
    })?;
    let flat = count_without_area(&mesh.positions, &mesh.triangles);
    if flat > 0 {
        let what = match flat {
            1 => "1 triangle has no area; it is kept".to_owned(),
            _ => format!("{flat} triangles have no area; they are kept"),
        };
        warnings.push(Warning::new(Place::File, what));
    }
    Ok(Asset { uv_origin: UvOrigin::Bottom, ..Asset::from_mesh(mesh) })
}

/// The asset of one point cloud; as [`finish`].
pub(super) fn finish_cloud(
    mut cloud: PointCloud,
    warnings: &mut Vec<Warning>,
) -> Result<Asset, Malformed> {
    if cloud.positions.is_empty() {
        return Err(Malformed::new(
            Place::File,
            "no triangles and no points",
            "the shape was not exported, or the file was cut off",
        ));
    }
    mend_attributes(&mut cloud.attributes, warnings);
    let lengths = cloud.attributes.iter().all(|a| a.values.len() == cloud.positions.len());
    if !lengths || cloud.positions.iter().any(|p| !p.is_finite()) {
        let fix = "correct it, or export the file again";
        return Err(Malformed::new(Place::File, "a point is not finite or lacks values", fix));
    }
    Ok(Asset { uv_origin: UvOrigin::Bottom, ..Asset::from_cloud(cloud) })
}

fn mend_attributes(attributes: &mut Attributes, warnings: &mut Vec<Warning>) {
    for (name, values) in attributes.values_mut() {
        mend(name, values, warnings);
    }
}

fn mend(name: &str, values: &mut Values, warnings: &mut Vec<Warning>) {
    let mut mended = 0;
    for value in values.as_floats_mut().iter_mut().filter(|v| !v.is_finite()) {
        *value = 0.0;
        mended += 1;
    }
    if mended > 0 {
        let what = format!("{mended} numbers of '{name}' are not finite; they became 0");
        warnings.push(Warning::new(Place::File, what));
    }
}

fn count_without_area(positions: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    let flat = |t: &&[u32; 3]| {
        let [a, b, c] = t.map(|i| positions[i as usize].as_dvec3());
        (b - a).cross(c - a) == glam::DVec3::ZERO
    };
    triangles.iter().filter(flat).count()
}
