//! Painted layers of a scene: vertex values that belong to the document, in files beside it, in the place of those of the
//! asset's own file.
//!
//! A layer with a value for each vertex of the asset is taken as it is. One that was painted on another mesh of the same
//! shape, finer or coarser, is read where its surface is nearest; that is told.

use super::Load;
use super::error::PlayerError;
use super::open::is_single;
use crate::mesh::bvh::Bvh;
use crate::mesh::{TriMesh, Values};
use crate::rig::Body;
use crate::scene::{Actor, Source};
use crate::{Asset, Run};

/// Puts the layers of an asset on it, and tells what had to be guessed.
pub(super) fn apply(
    actor: &Actor,
    (asset, body): (&mut Asset, &mut Body),
    load: Load<'_>,
    run: &Run<'_>,
) -> Result<Vec<String>, PlayerError> {
    let mut told = Vec::new();
    for (layer, file) in &actor.paint {
        run.check()?;
        let file = &file.0;
        let wrong = |what: String| PlayerError::Paint {
            asset: actor.name.clone(),
            layer: layer.clone(),
            what: format!("{file}: {what}"),
        };
        let painted = load(&Source::File { file: file.clone() })
            .map_err(|e| wrong(e.to_string()))?
            .with_clouds_as_meshes();
        let painted = Body::from_asset(&painted).map_err(|e| wrong(e.to_string()))?.mesh;
        let (values, is_guess) = values_on(&body.mesh, &painted, layer, run).map_err(wrong)?;
        if is_guess {
            let (here, there) = (body.mesh.positions.len(), painted.positions.len());
            told.push(format!(
                "asset '{}', painted layer '{layer}': {file} has {there} vertices, the asset {here}: taken where its \
                 surface is nearest",
                actor.name
            ));
        }
        // What is made of the one mesh of an asset later is made with its paint.
        if is_single(asset) && asset.meshes[0].positions.len() == values.len() {
            asset.meshes[0].attributes.set(layer, values.clone());
        }
        body.mesh.attributes.set(layer, values);
    }
    Ok(told)
}

/// The values that are painted on a mesh, on another one; whether they had to be looked for.
fn values_on(
    mesh: &TriMesh,
    painted: &TriMesh,
    layer: &str,
    run: &Run<'_>,
) -> Result<(Values, bool), String> {
    let known = || {
        let names: Vec<_> = painted.attributes.iter().map(|a| format!("'{}'", a.name)).collect();
        if names.is_empty() { "no values at all".to_owned() } else { names.join(", ") }
    };
    let values = painted
        .attributes
        .get(layer)
        .ok_or_else(|| format!("there are no values '{layer}' in it; it has {}", known()))?;
    if let Some(i) = values.as_floats().iter().position(|x| !x.is_finite()) {
        return Err(format!("the value of vertex {} is not finite", i / values.width()));
    }
    let (here, there) = (mesh.positions.len(), painted.positions.len());
    if here == there {
        return Ok((values.clone(), false));
    }
    let bvh = Bvh::new(&painted.positions, &painted.triangles, run);
    let width = values.width();
    let mut found = vec![0.0; here * width];
    for (at, found) in mesh.positions.iter().zip(found.chunks_exact_mut(width)) {
        let Some(closest) = bvh.closest_point(*at) else {
            return Err(format!(
                "it has {there} points and no triangles, the asset {here} vertices: paint it on this asset"
            ));
        };
        let corners = painted.triangles[closest.triangle as usize];
        for (vertex, weight) in corners.into_iter().zip(closest.barycentric) {
            let value = &values.as_floats()[vertex as usize * width..][..width];
            found.iter_mut().zip(value).for_each(|(sum, x)| *sum += weight * x);
        }
    }
    let blended = Values::from_floats(width, found).ok_or("its values have no width")?;
    Ok((blended, true))
}
