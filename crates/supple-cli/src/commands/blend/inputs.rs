//! Shapes from files: several with the same vertices, or one with morph targets.

use std::path::Path;

use anyhow::{Context as _, anyhow, bail};
use glam::Vec3;
use supple::blendshape::Hold;
use supple::mesh::TriMesh;
use supple::rig::Body;
use supple::{Asset, Run};

use super::Args;
use crate::shell::Shell;

/// Shapes with the same vertices.
pub(super) struct Inputs {
    /// What is written: the base with its materials.
    pub(super) asset: Asset,
    pub(super) base: Vec<Vec3>,
    pub(super) targets: Vec<Vec<Vec3>>,
    pub(super) names: Vec<String>,
    /// A file with morph targets: its body, and the morphs of each target.
    pub(super) rig: Option<Rig>,
    pub(super) hold: Hold,
    pub(super) anchor: Vec<u32>,
    pub(super) stiffness: Option<Vec<f32>>,
}

/// The skeleton and clips of a file with morph targets.
pub(super) struct Rig {
    pub(super) body: Body,
    pub(super) file: Asset,
    /// The morphs that a target is made of.
    pub(super) morphs: Vec<Vec<usize>>,
}

impl Inputs {
    pub(super) fn read(args: &Args, shell: &Shell) -> anyhow::Result<Self> {
        let mut inputs = match &args.inputs[..] {
            [one] => Self::of_morphs(one, shell)?,
            several => Self::of_files(several, shell)?,
        };
        let mesh = &inputs.asset.meshes[0];
        inputs.hold = match args.hold.as_deref() {
            None if inputs.rig.is_some() => Hold::Agreeing,
            None | Some("nothing") => Hold::Nothing,
            Some("agree") => Hold::Agreeing,
            Some(which) => Hold::Vertices(vertices(which, "--hold", mesh)?),
        };
        inputs.anchor = match args.anchor.as_deref() {
            None => Vec::new(),
            Some(which) => vertices(which, "--anchor", mesh)?,
        };
        inputs.stiffness = match args.stiffness.as_deref() {
            None => None,
            Some(name) => Some(painted(mesh, name, "--stiffness")?.to_vec()),
        };
        Ok(inputs)
    }

    fn of_files(paths: &[std::path::PathBuf], shell: &Shell) -> anyhow::Result<Self> {
        let first = super::super::read(&paths[0], shell)?;
        let (materials, images) = (first.materials.clone(), first.images.clone());
        let base = super::super::rest_mesh(&paths[0], first, shell)?;
        let mut targets = Vec::new();
        for path in &paths[1..] {
            if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("target")) {
                targets.push(displaced(path, &base)?);
                continue;
            }
            let asset = super::super::read(path, shell)?;
            let mesh = super::super::rest_mesh(path, asset, shell)?;
            compare(&base, &mesh, (&paths[0], path))?;
            targets.push(mesh.positions);
        }
        let name = |p: &std::path::PathBuf| {
            p.file_stem().unwrap_or_default().to_string_lossy().into_owned()
        };
        let mut asset = Asset::from_mesh(base);
        (asset.materials, asset.images) = (materials, images);
        Ok(Self {
            base: asset.meshes[0].positions.clone(),
            targets,
            names: paths[1..].iter().map(name).collect(),
            asset,
            rig: None,
            hold: Hold::Nothing,
            anchor: Vec::new(),
            stiffness: None,
        })
    }

    fn of_morphs(path: &Path, shell: &Shell) -> anyhow::Result<Self> {
        let file = super::super::read(path, shell)?;
        let body = Body::from_asset(&file).with_context(|| path.display().to_string())?;
        if body.morphs.is_empty() {
            bail!(
                "{} has no morph targets: give a base and at least one target, or a file with morph targets",
                path.display()
            );
        }
        let (mut names, mut morphs): (Vec<String>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for (m, morph) in body.morphs.iter().enumerate() {
            let name =
                if morph.name.is_empty() { format!("{}", morph.index) } else { morph.name.clone() };
            match names.iter().position(|n| *n == name) {
                Some(known) => morphs[known].push(m),
                None => {
                    names.push(name);
                    morphs.push(vec![m]);
                }
            }
        }
        let base = body.mesh.positions.clone();
        let target = |of: &Vec<usize>| {
            let mut shape = base.clone();
            for &m in of {
                let morph = &body.morphs[m];
                let range = morph.vertices.start as usize..morph.vertices.end as usize;
                shape[range].iter_mut().zip(&morph.positions).for_each(|(x, d)| *x += *d);
            }
            shape
        };
        let targets = morphs.iter().map(target).collect();
        let mut mesh = body.mesh.clone();
        (mesh.skin_weights, mesh.morphs) = (None, Vec::new());
        let mut asset = Asset::from_mesh(mesh);
        (asset.materials, asset.images) = (file.materials.clone(), file.images.clone());
        let rig = Some(Rig { body, file, morphs });
        let (hold, anchor, stiffness) = (Hold::Nothing, Vec::new(), None);
        Ok(Self { asset, base, targets, names, rig, hold, anchor, stiffness })
    }

    /// Weights of the targets from what was typed.
    pub(super) fn weights(&self, text: &str, is_additive: bool) -> anyhow::Result<Vec<f64>> {
        if text.contains('=') {
            return self.named(text);
        }
        let number = |t: &str| {
            t.trim().parse::<f64>().with_context(|| format!("--weights: '{t}' is no number"))
        };
        let numbers: Vec<f64> = text.split(',').map(number).collect::<anyhow::Result<_>>()?;
        let additive = is_additive || self.rig.is_some();
        let expected = self.targets.len() + usize::from(!additive);
        if numbers.len() != expected {
            let what = if additive {
                "targets"
            } else {
                "shapes, the base first (or those of the targets with --additive)"
            };
            bail!("--weights has {} numbers for {expected} {what}", numbers.len());
        }
        if additive { Ok(numbers) } else { Ok(supple::blendshape::additive(&numbers)?) }
    }

    fn named(&self, text: &str) -> anyhow::Result<Vec<f64>> {
        let mut weights = vec![0.0; self.targets.len()];
        for pair in text.split(',') {
            let (name, weight) = pair
                .split_once('=')
                .ok_or_else(|| anyhow!("--weights: '{pair}' is not name=weight"))?;
            let place = self.names.iter().position(|n| n == name.trim());
            let Some(place) = place else {
                let known = self.names[..self.names.len().min(20)].join(", ");
                bail!("--weights: there is no target '{}' (known: {known})", name.trim());
            };
            weights[place] = weight
                .trim()
                .parse()
                .with_context(|| format!("--weights: '{weight}' is no number"))?;
        }
        Ok(weights)
    }
}

/// Names the first difference between two shapes that must have the same vertices and faces.
fn compare(base: &TriMesh, other: &TriMesh, (a, b): (&Path, &Path)) -> anyhow::Result<()> {
    let (a, b) = (a.display(), b.display());
    if base.positions.len() != other.positions.len() {
        bail!(
            "{b} has {} vertices, {a} has {}: shapes need the same vertices in the same order",
            other.positions.len(),
            base.positions.len()
        );
    }
    if base.triangles.len() != other.triangles.len() {
        bail!(
            "{b} has {} triangles, {a} has {}: shapes need the same faces",
            other.triangles.len(),
            base.triangles.len()
        );
    }
    // Quads that are not flat may be cut along either diagonal: two triangles in a row with the same corners.
    let mut t = 0;
    while t < base.triangles.len() {
        if base.triangles[t] == other.triangles[t] {
            t += 1;
        } else if corners(&base.triangles, t) == corners(&other.triangles, t) {
            t += 2;
        } else {
            bail!(
                "{a} and {b} differ at triangle {t}: {:?} and {:?}; shapes need the same faces in the same order",
                base.triangles[t],
                other.triangles[t]
            );
        }
    }
    Ok(())
}

/// The corners of a triangle and the next, in rising order.
fn corners(triangles: &[[u32; 3]], t: usize) -> Vec<u32> {
    let mut corners: Vec<u32> = triangles[t..].iter().take(2).flatten().copied().collect();
    corners.sort_unstable();
    corners.dedup();
    corners
}

/// The base moved by a `MakeHuman` target.
fn displaced(path: &Path, base: &TriMesh) -> anyhow::Result<Vec<Vec3>> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let moved = supple::io::makehuman::read_target(&bytes, base.positions.len());
    let moved = moved.with_context(|| path.display().to_string())?;
    Ok(base.positions.iter().zip(&moved).map(|(x, d)| *x + *d).collect())
}

/// Vertices by number, or where painted values are above one half.
fn vertices(text: &str, option: &str, mesh: &TriMesh) -> anyhow::Result<Vec<u32>> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(|t| t.trim().parse::<u32>()).collect();
    if let Ok(numbers) = numbers {
        let count = mesh.positions.len();
        if let Some(wrong) = numbers.iter().find(|&&v| v as usize >= count) {
            bail!("{option}: there is no vertex {wrong}: the shapes have {count}, counted from 0");
        }
        return Ok(numbers);
    }
    let paint = painted(mesh, text, option)?;
    let found: Vec<u32> = (0..).zip(paint).filter(|(_, x)| **x > 0.5).map(|(v, _)| v).collect();
    if found.is_empty() {
        bail!("{option}: '{text}' is above one half at no vertex");
    }
    Ok(found)
}

fn painted<'a>(mesh: &'a TriMesh, name: &str, option: &str) -> anyhow::Result<&'a [f32]> {
    mesh.attributes.scalar(name).ok_or_else(|| {
        anyhow!(
            "{option}: the base has no painted values '{name}' (it has {})",
            mesh.attributes.known_scalars()
        )
    })
}

/// A mesh that is not to be entered.
pub(super) fn obstacle(
    path: &Path,
    shell: &Shell,
    run: &Run<'_>,
) -> anyhow::Result<supple::blendshape::obstacle::Obstacle> {
    use supple::blendshape::obstacle::{Obstacle, Pose, Solid};
    let asset = super::super::read(path, shell)?;
    let mesh = super::super::rest_mesh(path, asset, shell)?;
    let solid = Solid::mesh(&mesh.positions, &mesh.triangles, run)
        .with_context(|| path.display().to_string())?;
    Ok(Obstacle::still(solid, Pose::default()))
}
