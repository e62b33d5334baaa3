//! Procedural demo shapes and rigs: the same bits on every machine.
//!
#![doc = include_str!("../../../../docs/pictures/zoo.md")]
//!
//! Demos, tests and benchmarks run on a fresh machine without a download, so Supple grows its own
//! models. Each has a name, no seed, and any number of triangles: the default is that of the paper
//! that used such a model, where there is one. Y is up, creatures face +z with their feet on
//! `y = 0`, lengths are metres; simple shapes are centred at the origin.
//!
//! Only additions, multiplications, square roots and the functions of the crate `libm` are used, in
//! a fixed order: nothing depends on the machine's maths library or the number of threads.
//!
//! # Example
//!
//! ```
//! use supple::{Run, zoo};
//!
//! let size = zoo::Size { triangles: Some(1200) };
//! let ball = zoo::build("ball", &size, &Run::default())?;
//! assert_eq!(ball.meshes[0].triangles.len(), 1280); // the nearest an even ball can have
//! # Ok::<(), zoo::Error>(())
//! ```

mod boxer;
mod camel;
mod cow;
mod dragon;
mod fabric;
mod hand;
mod head;
mod jelly;
pub mod lattice;
mod limbs;
mod morph_bar;
mod morphs;
mod polygonise;
mod pose;
pub mod profile;
mod reduce;
mod relax;
mod rigged_bar;
mod rigging;
mod simple;
mod solid;
pub mod tet_bodies;

use glam::{DVec3, Vec3, Vec4};

use self::solid::Solid;
use crate::io::color::rounded;
use crate::mesh::attribute::{COLOR, NORMAL};
use crate::mesh::{Group, TriMesh, Values};
use crate::rig::asset::Material;
use crate::run::Cancelled;
use crate::{Asset, Run};

/// Most triangles that [`build`] makes.
pub const MOST_TRIANGLES: usize = 4_000_000;

/// One model of the zoo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What to call it.
    pub name: &'static str,
    /// What it shows, in a few words.
    pub what: &'static str,
    /// How many triangles it has unless told otherwise.
    pub default_triangles: usize,
}

/// How large a model is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Triangles wanted; `None` for the model's default. Models of smooth parts have exactly that
    /// many, if it is even and not too few for the shape; regular grids the nearest they can have.
    pub triangles: Option<usize>,
}

/// Why [`build`] refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// There is no such model.
    #[error("no model '{name}' in the zoo; did you mean '{closest}'? There are: {}", listed())]
    Unknown {
        /// What was asked for.
        name: String,
        /// The name most like it.
        closest: &'static str,
    },
    /// More triangles are wanted than can be made.
    #[error("{triangles} triangles are too many: a model can have up to {MOST_TRIANGLES}")]
    TooMany {
        /// How many were wanted.
        triangles: usize,
    },
    /// The grid that the shape needs at this size does not fit the memory limit.
    #[error("'{name}' cannot be made of {triangles} triangles; try fewer")]
    Unresolved {
        /// Which model.
        name: &'static str,
        /// How many were wanted.
        triangles: usize,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

fn listed() -> String {
    names().iter().map(|e| e.name).collect::<Vec<_>>().join(", ")
}

/// Models with morph targets that [`build`] makes of others: a bar with a stiff half, a face, and creatures bent by 110° and
/// twisted by 60°.
#[must_use]
pub fn morph_names() -> [&'static str; 6] {
    morphs::MODELS.map(|(name, ..)| name)
}

/// All models, in the order to show them. Besides, [`build`] makes those of [`morph_names`] and the surfaces of
/// [`tet_bodies`].
#[must_use]
pub fn names() -> &'static [Entry] {
    const fn entry(name: &'static str, what: &'static str, default_triangles: usize) -> Entry {
        Entry { name, what, default_triangles }
    }
    const NAMES: &[Entry] = &[
        entry("ball", "a sphere of radius 1", 5120),
        entry("bar", "a square bar 6 long and 1 thick, along x", 3328),
        entry("box", "a cube of edge 2", 3072),
        entry("capsule", "a capsule of radius 0.5, 3 high", 3648),
        entry("comb", "a bar with thirteen teeth", 10_764),
        entry("cylinder", "a closed cylinder of radius 0.5, 2 high", 3840),
        entry("fan", "a pleated fan of ten folds, with sharp edges", 10_688),
        entry(
            "morph-bar",
            "the bar with the morph targets curl and wring, and a clip of each",
            3328,
        ),
        entry("plane", "a flat sheet of 2 by 2, open", 2048),
        entry("rigged-bar", "the bar with three bones and the clips bend and twist", 3328),
        entry("rope", "a round rope 12 long and 0.3 thick, along x", 8352),
        entry("torus", "a ring of radius 1 and thickness 0.35", 4480),
        entry("arm", "an arm with the clip bend, painted for its muscles", 8000),
        entry("boxer", "a boxer with a skeleton and the clips guard, punch and walk", 15_596),
        entry("camel", "a camel of seven segments with the clip walk", 19_536),
        entry("cow", "a cow with horns, udder and tail, painted with softness", 5804),
        entry("dragon", "a dragon with folded wings, its mouth open", 12_000),
        entry("hand", "a right hand with finger bones and the clips fist and wave", 9000),
        entry("head", "a human head and neck", 16_532),
        entry("jelly", "a jelly with knobs, painted with softness", 6000),
        entry("shoulder", "a chest with one arm and the clip twist", 9000),
    ];
    NAMES
}

/// Makes the model called `name`.
///
/// # Errors
///
/// [`Error::Unknown`] for a name not in [`names`], [`Error::TooMany`] and [`Error::Unresolved`] for
/// sizes out of reach, [`Error::Cancelled`] once the caller asked to stop.
pub fn build(name: &str, size: &Size, run: &Run<'_>) -> Result<Asset, Error> {
    let Some(entry) = names().iter().find(|e| e.name == name) else {
        if let Some(&model) = morphs::MODELS.iter().find(|(known, ..)| *known == name) {
            return morphing(model, size, run);
        }
        if let Ok(surface) = tet_bodies::surface(name, size.triangles) {
            return Ok(finished(name, surface, Asset::default()));
        }
        return Err(Error::Unknown { name: name.to_owned(), closest: closest(name) });
    };
    let triangles = size.triangles.unwrap_or(entry.default_triangles);
    if triangles > MOST_TRIANGLES {
        return Err(Error::TooMany { triangles });
    }
    if let Some(mesh) = simple::build(entry.name, triangles) {
        run.check()?;
        return Ok(finished(entry.name, mesh, Asset::default()));
    }
    if entry.name == "morph-bar"
        && let Some((mesh, clips)) = morph_bar::build(triangles)
    {
        run.check()?;
        return Ok(finished(entry.name, mesh, clips));
    }
    if entry.name == "rigged-bar"
        && let Some((mesh, rig)) = rigged_bar::build(triangles)
    {
        run.check()?;
        return Ok(finished(entry.name, mesh, rig));
    }
    creature(entry.name, triangles, run).map_err(|e| match e {
        polygonise::Error::Cancelled(c) => Error::Cancelled(c),
        polygonise::Error::Unresolved => Error::Unresolved { name: entry.name, triangles },
    })
}

/// A creature with morph targets.
fn morphing(
    (name, of, default_triangles): (&'static str, &'static str, usize),
    size: &Size,
    run: &Run<'_>,
) -> Result<Asset, Error> {
    let triangles = size.triangles.unwrap_or(default_triangles);
    let mut made = build(of, &Size { triangles: Some(triangles) }, run)?;
    let (mesh, clips) = morphs::build(name, made.meshes.swap_remove(0), made.clips);
    Ok(finished(name, mesh, clips))
}

fn creature(
    name: &'static str,
    triangles: usize,
    run: &Run<'_>,
) -> Result<Asset, polygonise::Error> {
    let solid = match name {
        "arm" => limbs::arm(),
        "boxer" => boxer::solid(),
        "camel" => camel::solid(),
        "cow" => cow::solid(),
        "dragon" => dragon::solid(),
        "hand" => hand::solid(),
        "head" => head::solid(),
        "shoulder" => limbs::shoulder(),
        _ => jelly::solid(),
    };
    let (points, corners) = polygonise::polygonise(&solid, triangles, run)?;
    let mut mesh = surface(&solid, &points, corners, run);
    let rig = match name {
        "arm" => limbs::arm_rig(),
        "boxer" => boxer::rig(),
        "camel" => camel::rig(),
        "hand" => hand::rig(),
        "shoulder" => limbs::shoulder_rig(),
        _ => return Ok(finished(name, softened(name, mesh), Asset::default())),
    };
    mesh.skin_weights = Some(rig.weights(&solid, &points, run));
    if name == "arm" {
        let muscles = mesh.positions.iter().map(|&p| limbs::muscles(p)).collect();
        mesh.attributes.set("VOLUME_ELBOW", Values::Scalar(muscles));
    }
    Ok(finished(name, mesh, rig.into_asset()))
}

/// Paints `softness` on the models that have soft places.
fn softened(name: &str, mut mesh: TriMesh) -> TriMesh {
    let softness: fn(Vec3) -> f32 = match name {
        "cow" => cow::softness,
        "jelly" => jelly::softness,
        _ => return mesh,
    };
    let values = mesh.positions.iter().map(|&p| softness(p)).collect();
    mesh.attributes.set("softness", Values::Scalar(values));
    mesh
}

/// A mesh with the normals and colours of its solid.
fn surface(solid: &Solid, points: &[DVec3], triangles: Vec<[u32; 3]>, run: &Run<'_>) -> TriMesh {
    let mut mesh = TriMesh::new(points.iter().map(|p| p.as_vec3()).collect(), triangles);
    let normal = |v: usize| solid.gradient(points[v]).normalize_or_zero().as_vec3();
    mesh.attributes.set(NORMAL, Values::Vec3(run.map(points.len(), normal)));
    let color = |v: usize| DVec3::from(solid.color_at(points[v])).as_vec3().extend(1.0);
    mesh.attributes.set(COLOR, Values::Vec4(run.map(points.len(), color)));
    mesh
}

/// Names the mesh, gives it a material, and hangs it into the asset's nodes.
fn finished(name: &str, mut mesh: TriMesh, mut asset: Asset) -> Asset {
    name.clone_into(&mut mesh.name);
    if mesh.attributes.get(COLOR).is_none() {
        let clay = Vec4::new(0.55, 0.62, 0.70, 1.0);
        mesh.attributes.set(COLOR, Values::Vec4(vec![clay; mesh.positions.len()]));
    }
    if let Some(Values::Vec4(colors)) = mesh.attributes.get_mut(COLOR) {
        // Other programs expect bytes.
        colors.iter_mut().for_each(|color| *color = rounded(*color));
    }
    let all = 0..mesh.triangles.len() as u32;
    mesh.groups = vec![Group { name: name.to_owned(), triangles: all, material: Some(0) }];
    let material = Material {
        name: "painted".to_owned(),
        roughness: 0.6,
        double_sided: matches!(name, "plane" | "morph-face"),
        ..Material::default()
    };
    let node = crate::rig::Node {
        name: name.to_owned(),
        mesh: Some(0),
        skin: (!asset.skins.is_empty()).then_some(0),
        ..Default::default()
    };
    asset.meshes.push(mesh);
    asset.materials.push(material);
    asset.nodes.push(node);
    asset
}

/// The name most like `name`.
fn closest(name: &str) -> &'static str {
    let name = name.to_lowercase();
    let best = names().iter().min_by_key(|e| edits(&name, e.name));
    best.map_or("", |e| e.name)
}

/// Letters to insert, delete or replace to come from one word to the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_gets_the_closest_and_the_list() {
        let error = build("cwo", &Size::default(), &Run::default()).unwrap_err();
        assert_eq!(error, Error::Unknown { name: "cwo".to_owned(), closest: "cow" });
        let text = error.to_string();
        assert!(names().iter().all(|e| text.contains(e.name)), "{text}");
    }

    #[test]
    fn too_many_triangles_are_refused_before_any_work() {
        let size = Size { triangles: Some(usize::MAX) };
        let error = build("cow", &size, &Run::default()).unwrap_err();
        assert_eq!(error, Error::TooMany { triangles: usize::MAX });
    }

    #[test]
    fn edits_count_single_letters() {
        assert_eq!((edits("cow", "cow"), edits("", "cow"), edits("bux", "box")), (0, 3, 1));
    }
}
