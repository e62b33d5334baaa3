//! Shapes from files: several with the same vertices, or one with morph targets. Several bodies of tets bring their own
//! inside.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use glam::{DVec3, Vec3};
use supple::blendshape::{Anchor, Hold};
use supple::io;
use supple::mesh::{TetMesh, TriMesh, adjacency};
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
    /// Shapes for targets used together: their own weight is the product of those.
    pub(super) combinations: Vec<Combined>,
    /// Tets of shapes that are bodies of them, whose nodes are the vertices; else none.
    pub(super) tets: Vec<[u32; 4]>,
    /// A file with morph targets: its body, and the morphs of each target.
    pub(super) rig: Option<Rig>,
    pub(super) hold: Hold,
    pub(super) anchor: Vec<u32>,
    pub(super) anchors: Vec<Anchor>,
    pub(super) stiffness: Option<Vec<f32>>,
}

/// Where targets put the vertices together at full weight.
pub(super) struct Combined {
    pub(super) of: Vec<usize>,
    pub(super) positions: Vec<Vec3>,
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
            several if io::is_tets(&several[0]) => Self::of_tets(several, shell)?,
            several => Self::of_files(several, shell)?,
        };
        inputs.combine(&args.combine)?;
        let mesh = &inputs.asset.meshes[0];
        inputs.hold = match args.hold.as_deref() {
            None if inputs.rig.is_some() => Hold::Agreeing,
            None | Some("nothing") => Hold::Nothing,
            Some("agree") => Hold::Agreeing,
            Some(which) => Hold::Vertices(vertices(which, "--hold", mesh)?),
        };
        for which in &args.anchor {
            match which.strip_prefix('@') {
                Some(at) => inputs.anchors.push(Anchor::At(point(at)?)),
                None if which == "centre" => inputs.anchors.push(Anchor::Centre),
                None => inputs.anchor.extend(vertices(which, "--anchor", mesh)?),
            }
        }
        inputs.stiffness = match args.stiffness.as_deref() {
            None => None,
            Some(name) => Some(painted(mesh, name, "--stiffness")?.to_vec()),
        };
        Ok(inputs)
    }

    fn of_files(paths: &[PathBuf], shell: &Shell) -> anyhow::Result<Self> {
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
        let mut asset = Asset::from_mesh(base);
        (asset.materials, asset.images) = (materials, images);
        Ok(Self::of_shapes(asset, targets, paths))
    }

    /// Bodies with the same nodes and tets; their boundary is the surface.
    fn of_tets(paths: &[PathBuf], shell: &Shell) -> anyhow::Result<Self> {
        let read = |path: &PathBuf| -> anyhow::Result<TetMesh> {
            if !io::is_tets(path) {
                bail!(
                    "{} is no body of tets, but {} is: all shapes need the same vertices in the same order",
                    path.display(),
                    paths[0].display()
                );
            }
            let loaded = io::read_tets(path)?;
            shell.warn(&path.display().to_string(), &loaded.warnings);
            Ok(loaded.mesh)
        };
        let base = read(&paths[0])?;
        let mut targets = Vec::new();
        for path in &paths[1..] {
            let target = read(path)?;
            compare_tets(&base, &target, (&paths[0], path))?;
            targets.push(target.positions);
        }
        let asset = Asset::from_mesh(base.surface());
        Ok(Self { tets: base.tets, ..Self::of_shapes(asset, targets, paths) })
    }

    fn of_shapes(asset: Asset, targets: Vec<Vec<Vec3>>, paths: &[PathBuf]) -> Self {
        let name = |p: &PathBuf| p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            base: asset.meshes[0].positions.clone(),
            targets,
            names: paths[1..].iter().map(name).collect(),
            combinations: Vec::new(),
            tets: Vec::new(),
            asset,
            rig: None,
            hold: Hold::Nothing,
            anchor: Vec::new(),
            anchors: Vec::new(),
            stiffness: None,
        }
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
        let (combinations, anchors) = (Vec::new(), Vec::new());
        Ok(Self {
            asset,
            base,
            targets,
            names,
            combinations,
            tets: Vec::new(),
            rig,
            hold,
            anchor,
            anchors,
            stiffness,
        })
    }

    /// Makes targets combinations of others. The shape of a file is the whole one; a morph target is what is to be added
    /// to the others.
    fn combine(&mut self, asked: &[String]) -> anyhow::Result<()> {
        let mut made = Vec::new();
        for text in asked {
            let (name, of) = text.split_once('=').ok_or_else(|| {
                anyhow!("--combine '{text}': give a target and those it belongs to, as in smileOpen=smile*jawOpen")
            })?;
            let name = self.place(name, "--combine")?;
            let of: Vec<usize> =
                of.split('*').map(|t| self.place(t, "--combine")).collect::<anyhow::Result<_>>()?;
            if of.len() < 2 || of.contains(&name) {
                bail!(
                    "--combine '{text}': give at least two other targets, as in smileOpen=smile*jawOpen"
                );
            }
            made.push((name, of));
        }
        if let Some((name, _)) =
            made.iter().find(|(_, of)| of.iter().any(|t| made.iter().any(|(n, _)| n == t)))
        {
            bail!(
                "--combine: '{}' is made of another combination: name the targets themselves",
                self.names[*name]
            );
        }
        let is_left = |t: &usize| !made.iter().any(|(name, _)| name == t);
        let left: Vec<usize> = (0..self.targets.len()).filter(is_left).collect();
        for (name, of) in &made {
            let mut positions = self.targets[*name].clone();
            if self.rig.is_some() {
                for &t in of {
                    let moved = self.targets[t].iter().zip(&self.base);
                    positions.iter_mut().zip(moved).for_each(|(x, (t, b))| *x += *t - *b);
                }
            }
            let of = of.iter().filter_map(|t| left.iter().position(|l| l == t)).collect();
            self.combinations.push(Combined { of, positions });
        }
        self.targets = left.iter().map(|&t| std::mem::take(&mut self.targets[t])).collect();
        self.names = left.iter().map(|&t| std::mem::take(&mut self.names[t])).collect();
        if let Some(rig) = &mut self.rig {
            rig.morphs = left.iter().map(|&t| std::mem::take(&mut rig.morphs[t])).collect();
        }
        Ok(())
    }

    /// The number of a target.
    fn place(&self, name: &str, option: &str) -> anyhow::Result<usize> {
        let name = name.trim();
        self.names.iter().position(|n| n == name).ok_or_else(|| {
            let known = self.names[..self.names.len().min(20)].join(", ");
            anyhow!("{option}: there is no target '{name}' (known: {known})")
        })
    }

    /// Weights of the targets from what was typed.
    pub(super) fn weights(&self, text: &str, is_additive: bool) -> anyhow::Result<Vec<f64>> {
        if text.contains('=') {
            return self.named(text);
        }
        let number = |t: &str| {
            t.trim().parse::<f64>().ok().with_context(|| {
                format!("--weights: '{t}' is no number: give numbers, or name=weight")
            })
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
        let mut is_named = vec![false; self.targets.len()];
        let mut rest = text;
        while !rest.is_empty() {
            // Names may have commas and equal signs in them: a pair ends at the comma after its number.
            let is_end = |at: &usize| number_at_end(&rest[..*at]).is_some();
            let ends = rest.match_indices(',').map(|(at, _)| at);
            let end = ends.chain([rest.len()]).find(is_end).unwrap_or(rest.len());
            let (pair, after) = (&rest[..end], rest.get(end + 1..).unwrap_or(""));
            rest = after;
            let (name, weight) = pair
                .rsplit_once('=')
                .ok_or_else(|| anyhow!("--weights: '{pair}' is not name=weight"))?;
            let place = self.place(name, "--weights")?;
            if std::mem::replace(&mut is_named[place], true) {
                bail!("--weights names '{}' twice", self.names[place]);
            }
            weights[place] = weight
                .trim()
                .parse()
                .with_context(|| format!("--weights: '{weight}' is no number"))?;
        }
        Ok(weights)
    }
}

/// The number behind the last equal sign.
fn number_at_end(pair: &str) -> Option<f64> {
    pair.rsplit_once('=')?.1.trim().parse().ok()
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

/// The same for bodies of tets. Tets that a target turns inside out are read with their corners in another order.
fn compare_tets(base: &TetMesh, other: &TetMesh, (a, b): (&Path, &Path)) -> anyhow::Result<()> {
    let (a, b) = (a.display(), b.display());
    let counts = |mesh: &TetMesh| (mesh.positions.len(), mesh.tets.len());
    if counts(base) != counts(other) {
        let [(n, t), (m, u)] = [counts(base), counts(other)];
        bail!(
            "{b} has {m} vertices and {u} tets, {a} has {n} and {t}: shapes need the same ones in the same order"
        );
    }
    let sorted = |t: &[u32; 4]| {
        let mut corners = *t;
        corners.sort_unstable();
        corners
    };
    let differs = |(x, y): (&[u32; 4], &[u32; 4])| sorted(x) != sorted(y);
    if let Some(t) = base.tets.iter().zip(&other.tets).position(differs) {
        bail!(
            "{a} and {b} differ at tet {t}: {:?} and {:?}; shapes need the same tets in the same order",
            base.tets[t],
            other.tets[t]
        );
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
    let bytes =
        io::inputs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let moved = io::makehuman::read_target(&bytes, base.positions.len());
    let moved = moved.with_context(|| path.display().to_string())?;
    Ok(base.positions.iter().zip(&moved).map(|(x, d)| *x + *d).collect())
}

/// Three numbers.
fn point(text: &str) -> anyhow::Result<DVec3> {
    let wrong = || format!("--anchor '@{text}': give a place, as in @0,1.2,0");
    let numbers: Vec<f64> =
        text.split(',').map(|x| x.trim().parse()).collect::<Result<_, _>>().with_context(wrong)?;
    match numbers[..] {
        [x, y, z] if numbers.iter().all(|x| x.is_finite()) => Ok(DVec3::new(x, y, z)),
        _ => bail!(wrong()),
    }
}

/// Vertices by number, or where painted values are above one half.
fn vertices(text: &str, option: &str, mesh: &TriMesh) -> anyhow::Result<Vec<u32>> {
    let numbers: Result<Vec<i64>, _> = text.split(',').map(|t| t.trim().parse::<i64>()).collect();
    if let Ok(numbers) = numbers {
        let count = mesh.positions.len();
        let vertex = |v: i64| u32::try_from(v).ok().filter(|&v| (v as usize) < count);
        let found = numbers.iter().map(|&v| {
            vertex(v).with_context(|| {
                format!("{option}: there is no vertex {v}: the shapes have {count}, counted from 0")
            })
        });
        return found.collect();
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
            "{option}: the base has no painted values '{name}' ({})",
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
    let known = adjacency::coincident(&mesh.positions);
    let whole = adjacency::renamed(&mesh.triangles, &known);
    if !whole.is_empty() && !adjacency::topology(known.len(), &whole, run).is_closed() {
        let open = "the obstacle is not closed: what is inside is a guess, by winding number";
        shell.warn(&path.display().to_string(), &[open]);
    }
    let solid = Solid::mesh(&mesh.positions, &mesh.triangles, run)
        .with_context(|| path.display().to_string())?;
    Ok(Obstacle::still(solid, Pose::default()))
}
