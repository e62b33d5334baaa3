//! Reading: the parts of a file, put together.

use glam::Mat4;

use super::accessor::Data;
use super::document::{self, Document};
use super::{camera, clip, container, material, mesh, scene};
use crate::io::uri::FetchError;
use crate::io::{Malformed, Place, Warning};
use crate::rig::Node;
use crate::rig::asset::{Asset, UvOrigin};

/// Extensions a file may require. Quantisation only adds component types, which are all read.
const SUPPORTED: &[&str] =
    &["KHR_mesh_quantization", "EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Reads a text or binary glTF file; `fetch` reads what its URIs name (see
/// [`uri::fetcher`](crate::io::uri::fetcher)).
///
/// Nodes, skins and materials keep their index in the file. A mesh without any triangle primitive
/// is left out. Points have no node here: they are moved to where their node places them.
///
/// # Errors
///
/// [`Malformed`] if the file breaks the format, needs an extension that is not supported, or
/// claims more data than it has.
pub fn read(
    bytes: &[u8],
    fetch: &dyn Fn(&str) -> Result<Vec<u8>, FetchError>,
    warnings: &mut Vec<Warning>,
) -> Result<Asset, Malformed> {
    let parts = container::parts(bytes, warnings)?;
    let document = document::parse(parts.json)?;
    check_version(&document)?;
    check_extensions(&document, warnings)?;
    let data = Data::load(&document, (bytes.len(), parts.bin), fetch, warnings)?;
    let (materials, images) = material::read(&document, &data, fetch, warnings)?;
    let uv_origin = UvOrigin::Top;
    let mut asset = Asset { materials, images, uv_origin, ..Asset::default() };
    let became = read_meshes(&document, &data, &mut asset, warnings)?;
    let mesh_of: Vec<Option<u32>> = became.iter().map(|b| b.mesh).collect();
    asset.nodes = scene::nodes(&document, &mesh_of, warnings)?;
    asset.cameras = camera::read(&document, warnings)?;
    place_clouds(&document, &became, &mut asset, warnings);
    asset.skins = scene::skins(&document, &data, warnings)?;
    scene::check_instances(&mut asset.nodes, &asset.meshes, &asset.skins, warnings)?;
    asset.clips = clip::read(&document, &data, &mut asset.nodes, &asset.meshes, warnings)?;
    place_meshes(&mut asset, warnings);
    note_what_is_left_out(&document, &asset, warnings);
    Ok(asset)
}

/// Puts the meshes of a file at the origin if none of its nodes shows any.
fn place_meshes(asset: &mut Asset, warnings: &mut Vec<Warning>) {
    if asset.meshes.is_empty() || asset.nodes.iter().any(|n| n.mesh.is_some()) {
        return;
    }
    for (mesh, index) in asset.meshes.iter().zip(0..) {
        let name = mesh.name.clone();
        asset.nodes.push(Node { name, mesh: Some(index), ..Node::default() });
    }
    let what = "no node shows a mesh; all meshes were put at the origin";
    warnings.push(Warning::new(Place::Json("nodes".to_owned()), what));
}

fn check_version(document: &Document<'_>) -> Result<(), Malformed> {
    let version = document.asset.min_version.as_ref().unwrap_or(&document.asset.version);
    let is_two =
        version == "2.0" || (document.asset.min_version.is_none() && version.starts_with("2."));
    if is_two {
        return Ok(());
    }
    let place = Place::Json("asset.version".to_owned());
    Err(Malformed::new(place, format!("glTF version '{version}'"), "export the file as glTF 2.0"))
}

fn check_extensions(document: &Document<'_>, warnings: &mut Vec<Warning>) -> Result<(), Malformed> {
    let supported = |name: &String| SUPPORTED.contains(&name.as_str());
    let required = &document.extensions_required;
    if let Some(i) = required.iter().position(|name| !supported(name)) {
        let place = Place::Json(format!("extensionsRequired[{i}]"));
        let what =
            format!("the file needs the extension '{}', which is not supported", required[i]);
        return Err(Malformed::new(place, what, "export the file without it"));
    }
    for (i, name) in document.extensions_used.iter().enumerate() {
        if !supported(name) {
            let place = Place::Json(format!("extensionsUsed[{i}]"));
            warnings.push(Warning::new(place, format!("the extension '{name}' was ignored")));
        }
    }
    Ok(())
}

/// What became of a mesh of the file.
struct Became {
    mesh: Option<u32>,
    cloud: Option<usize>,
}

fn read_meshes(
    document: &Document<'_>,
    data: &Data<'_>,
    asset: &mut Asset,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Became>, Malformed> {
    let mut became = Vec::with_capacity(document.meshes.len());
    for (i, mesh) in document.meshes.iter().enumerate() {
        let shapes = mesh::read(data, (i, mesh), asset.materials.len(), warnings)?;
        became.push(Became {
            mesh: shapes.surface.as_ref().map(|_| asset.meshes.len() as u32),
            cloud: shapes.cloud.as_ref().map(|_| asset.clouds.len()),
        });
        asset.meshes.extend(shapes.surface);
        asset.clouds.extend(shapes.cloud);
    }
    Ok(became)
}

/// Moves points to where the first node that shows them places them.
fn place_clouds(
    document: &Document<'_>,
    became: &[Became],
    asset: &mut Asset,
    warnings: &mut Vec<Warning>,
) {
    if asset.clouds.is_empty() {
        return;
    }
    let worlds = worlds(&asset.nodes);
    let mut is_placed = vec![false; asset.clouds.len()];
    for (i, node) in document.nodes.iter().enumerate() {
        let Some(cloud) = node.mesh.and_then(|m| became[m.index()].cloud) else { continue };
        if std::mem::replace(&mut is_placed[cloud], true) {
            let place = Place::Json(format!("nodes[{i}].mesh"));
            warnings.push(Warning::new(place, "points shown a second time were left out"));
            continue;
        }
        if worlds[i] != Mat4::IDENTITY {
            for point in &mut asset.clouds[cloud].positions {
                *point = worlds[i].transform_point3(*point);
            }
        }
    }
}

/// From the space of each node to the space of the file.
fn worlds(nodes: &[Node]) -> Vec<Mat4> {
    let mut worlds: Vec<Option<Mat4>> = vec![None; nodes.len()];
    let mut path = Vec::new();
    for start in 0..nodes.len() {
        let mut above = Some(start as u32);
        while let Some(node) = above.filter(|&n| worlds[n as usize].is_none()) {
            path.push(node as usize);
            above = nodes[node as usize].parent;
        }
        let mut world = above.and_then(|n| worlds[n as usize]).unwrap_or(Mat4::IDENTITY);
        while let Some(node) = path.pop() {
            world *= nodes[node].local.matrix();
            worlds[node] = Some(world);
        }
    }
    worlds.into_iter().map(Option::unwrap_or_default).collect()
}

fn note_what_is_left_out(document: &Document<'_>, asset: &Asset, warnings: &mut Vec<Warning>) {
    let mut note = |place: &str, what: &str| {
        warnings.push(Warning::new(Place::Json(place.to_owned()), what));
    };
    if document.scenes.len() > 1 {
        note("scenes", "several scenes were read as one");
    }
    if asset.meshes.is_empty() && asset.clouds.is_empty() {
        warnings.push(Warning::new(Place::File, "the file holds no mesh and no points"));
    }
}
