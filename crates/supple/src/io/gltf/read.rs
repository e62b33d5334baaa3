//! Reading: the parts of a file, put together.

use super::accessor::Data;
use super::document::{self, Document};
use super::{clip, container, material, mesh, scene};
use crate::asset::Asset;
use crate::io::uri::FetchError;
use crate::io::{Malformed, Place, Warning};

/// Extensions a file may require. Quantisation only adds component types, which are all read.
const SUPPORTED: &[&str] = &["KHR_mesh_quantization"];

/// Reads a text or binary glTF file; `fetch` reads what its URIs name (see
/// [`uri::fetcher`](crate::io::uri::fetcher)).
///
/// Nodes, skins and materials keep their index in the file. A mesh without any triangle primitive
/// is left out.
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
    let mut asset = Asset { materials, images, ..Asset::default() };
    let mesh_of = read_meshes(&document, &data, &mut asset, warnings)?;
    asset.nodes = scene::nodes(&document, &mesh_of, warnings)?;
    asset.skins = scene::skins(&document, &data, warnings)?;
    scene::check_instances(&mut asset.nodes, &asset.meshes, &asset.skins, warnings)?;
    asset.clips = clip::read(&document, &data, &mut asset.nodes, &asset.meshes, warnings)?;
    note_what_is_left_out(&document, &asset, warnings);
    Ok(asset)
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

/// Reads all meshes; returns which mesh of the asset each mesh of the file became.
fn read_meshes(
    document: &Document<'_>,
    data: &Data<'_>,
    asset: &mut Asset,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Option<u32>>, Malformed> {
    let mut mesh_of = Vec::with_capacity(document.meshes.len());
    for (i, mesh) in document.meshes.iter().enumerate() {
        let shapes = mesh::read(data, (i, mesh), asset.materials.len(), warnings)?;
        asset.clouds.extend(shapes.cloud);
        mesh_of.push(shapes.surface.map(|surface| {
            asset.meshes.push(surface);
            asset.meshes.len() as u32 - 1
        }));
    }
    Ok(mesh_of)
}

fn note_what_is_left_out(document: &Document<'_>, asset: &Asset, warnings: &mut Vec<Warning>) {
    let mut note = |place: &str, what: &str| {
        warnings.push(Warning::new(Place::Json(place.to_owned()), what));
    };
    if !document.cameras.is_empty() {
        note("cameras", "cameras were left out");
    }
    if document.scenes.len() > 1 {
        note("scenes", "several scenes were read as one");
    }
    if asset.meshes.is_empty() && asset.clouds.is_empty() {
        warnings.push(Warning::new(Place::File, "the file holds no mesh and no points"));
    }
}
