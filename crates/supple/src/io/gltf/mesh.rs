//! Meshes: the primitives of a glTF mesh become one [`TriMesh`], a group each.
//!
//! Primitives that draw from the same vertices share them; others are put one after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use glam::{Vec3, Vec4};

use super::accessor::{AGAIN, Data, missing};
use super::document::{Int, Mesh, Primitive, Semantics};
use crate::io::{Malformed, Place, Warning};
use crate::mesh::attribute::{COLOR, NORMAL, TANGENT, UV};
use crate::mesh::normals::vertex_normals;
use crate::mesh::{Group, MorphTarget, PointCloud, SkinWeights, TriMesh, Values};
use crate::run::Run;

/// How far the weights of a vertex may be from one before they are scaled.
const WEIGHT_SUM_TOLERANCE: f32 = 1e-4;

/// What one glTF mesh holds.
#[derive(Default)]
pub(super) struct Shapes {
    pub(super) surface: Option<TriMesh>,
    pub(super) cloud: Option<PointCloud>,
}

/// Reads mesh `index`; `materials` is how many there are.
pub(super) fn read(
    data: &Data<'_>,
    (index, mesh): (usize, &Mesh),
    materials: usize,
    warnings: &mut Vec<Warning>,
) -> Result<Shapes, Malformed> {
    let (mut surfaces, mut points) = (Vec::new(), Vec::new());
    for (j, primitive) in mesh.primitives.iter().enumerate() {
        let place = format!("meshes[{index}].primitives[{j}]");
        if let Some(material) = primitive.material.filter(|m| m.index() >= materials) {
            return Err(missing(&format!("{place}.material"), "material", material));
        }
        let skipped = match primitive.mode.map_or(4, |m| m.0) {
            _ if !primitive.attributes.contains_key("POSITION") => "it has no POSITION",
            0 => {
                points.push((j, primitive));
                continue;
            }
            4..=6 => {
                surfaces.push((j, primitive));
                continue;
            }
            1..=3 => "it holds lines",
            mode => {
                let place = Place::Json(format!("{place}.mode"));
                return Err(Malformed::new(place, format!("unknown mode {mode}"), AGAIN));
            }
        };
        warnings.push(Warning::new(Place::Json(place), format!("skipped: {skipped}")));
    }
    let mut shapes = Shapes::default();
    if !surfaces.is_empty() {
        let blocks = blocks(data, index, &surfaces)?;
        let mut reader = Reader { data, index, mesh, blocks, warnings };
        shapes.surface = Some(reader.surface(&surfaces)?);
    }
    if !points.is_empty() {
        let blocks = blocks(data, index, &points)?;
        let mut reader = Reader { data, index, mesh, blocks, warnings };
        shapes.cloud = Some(reader.cloud(&points)?);
    }
    if mesh.primitives.is_empty() {
        let place = Place::Json(format!("meshes[{index}].primitives"));
        warnings.push(Warning::new(place, "the mesh is empty and was left out"));
    }
    Ok(shapes)
}

/// Vertices that one or several primitives draw from.
struct SharedVertices<'d> {
    /// The first primitive that does.
    primitive: usize,
    /// Index of the first vertex in the mesh.
    base: usize,
    count: usize,
    attributes: BTreeMap<&'d str, Int>,
    targets: &'d [Semantics],
}

impl SharedVertices<'_> {
    /// True if `primitive` can draw from these vertices: it names no other accessor for anything.
    fn serves(&self, primitive: &Primitive) -> bool {
        let agrees = |(semantic, id): (&String, &Int)| {
            self.attributes.get(semantic.as_str()).is_none_or(|mine| mine == id)
        };
        self.targets == primitive.targets && primitive.attributes.iter().all(agrees)
    }
}

/// The blocks of a list of primitives, and which of them each primitive uses.
struct Blocks<'d> {
    list: Vec<SharedVertices<'d>>,
    of_primitive: Vec<usize>,
    vertices: usize,
}

fn blocks<'d>(
    data: &Data<'_>,
    mesh: usize,
    primitives: &[(usize, &'d Primitive)],
) -> Result<Blocks<'d>, Malformed> {
    let mut blocks = Blocks { list: Vec::new(), of_primitive: Vec::new(), vertices: 0 };
    let mut latest: HashMap<u64, usize> = HashMap::new();
    for &(j, primitive) in primitives {
        let position = primitive.attributes["POSITION"];
        let named = primitive.attributes.iter().map(|(name, &id)| (name.as_str(), id));
        let shared = latest.get(&position.0).copied();
        if let Some(b) = shared.filter(|&b| blocks.list[b].serves(primitive)) {
            blocks.list[b].attributes.extend(named);
            blocks.of_primitive.push(b);
            continue;
        }
        let place = format!("meshes[{mesh}].primitives[{j}].attributes.POSITION");
        let count = data.count(position, &place)?;
        let (base, vertices) = (blocks.vertices, blocks.vertices.saturating_add(count));
        if vertices > u32::MAX as usize {
            let what = format!("{vertices} vertices: more than 32-bit indices can name");
            return Err(Malformed::new(Place::Json(place), what, AGAIN));
        }
        latest.insert(position.0, blocks.list.len());
        blocks.of_primitive.push(blocks.list.len());
        blocks.vertices = vertices;
        let (attributes, targets) = (named.collect(), primitive.targets.as_slice());
        blocks.list.push(SharedVertices { primitive: j, base, count, attributes, targets });
    }
    Ok(blocks)
}

/// Reads one kind of primitives of one mesh.
struct Reader<'r, 'd> {
    data: &'r Data<'d>,
    index: usize,
    mesh: &'d Mesh,
    blocks: Blocks<'d>,
    warnings: &'r mut Vec<Warning>,
}

impl Reader<'_, '_> {
    fn surface(&mut self, primitives: &[(usize, &Primitive)]) -> Result<TriMesh, Malformed> {
        let mut mesh = TriMesh { name: self.mesh.name.clone(), ..TriMesh::default() };
        mesh.positions = self.positions()?;
        self.add_triangles(primitives, &mut mesh)?;
        self.add_attributes(&mut mesh)?;
        mesh.skin_weights = self.skin_weights()?;
        mesh.morphs = self.morphs()?;
        mesh.validate().map_err(|defect| {
            let place = Place::Json(format!("meshes[{}]", self.index));
            Malformed::new(place, defect.to_string(), "mend the mesh where it was made")
        })?;
        if mesh.triangles.is_empty() {
            self.warn(None, "the mesh has no triangles");
        }
        Ok(mesh)
    }

    fn cloud(&mut self, primitives: &[(usize, &Primitive)]) -> Result<PointCloud, Malformed> {
        let mut mesh = TriMesh { positions: self.positions()?, ..TriMesh::default() };
        if let Some(vertex) = mesh.positions.iter().position(|p| !p.is_finite()) {
            let place = Place::Json(format!("meshes[{}]", self.index));
            let what = format!("point {vertex} is not finite");
            return Err(Malformed::new(place, what, "mend the points where they were made"));
        }
        for &(j, primitive) in primitives {
            if primitive.indices.is_some() {
                self.warn(Some(j), "the indices of points were ignored");
            }
        }
        self.add_attributes(&mut mesh)?;
        let name = self.mesh.name.clone();
        Ok(PointCloud { name, positions: mesh.positions, attributes: mesh.attributes })
    }

    fn positions(&self) -> Result<Vec<Vec3>, Malformed> {
        self.joined(
            Vec3::ZERO,
            |block| block.attributes.get("POSITION").copied(),
            "attributes.POSITION",
        )
    }

    /// One value a vertex of all blocks; `neutral` where a block has none.
    fn joined<T: bytemuck::Pod>(
        &self,
        neutral: T,
        accessor: impl Fn(&SharedVertices<'_>) -> Option<Int>,
        what: &str,
    ) -> Result<Vec<T>, Malformed> {
        let mut joined = Vec::new();
        for block in &self.blocks.list {
            let Some(id) = accessor(block) else {
                self.data.charge(block.count, size_of::<T>(), || self.place(block, what))?;
                joined.resize(block.base + block.count, neutral);
                continue;
            };
            let place = self.place(block, what);
            let values = self.data.floats(id, &place)?;
            check_count(values.len(), block.count, place)?;
            if joined.is_empty() {
                joined = values;
            } else {
                joined.extend_from_slice(&values);
            }
        }
        Ok(joined)
    }

    fn place(&self, block: &SharedVertices<'_>, what: &str) -> String {
        format!("meshes[{}].primitives[{}].{what}", self.index, block.primitive)
    }

    fn warn(&mut self, primitive: Option<usize>, what: impl Into<String>) {
        let mesh = format!("meshes[{}]", self.index);
        let place = primitive.map_or(mesh.clone(), |j| format!("{mesh}.primitives[{j}]"));
        self.warnings.push(Warning::new(Place::Json(place), what));
    }
}

/// Triangles and groups.
impl Reader<'_, '_> {
    fn add_triangles(
        &mut self,
        primitives: &[(usize, &Primitive)],
        mesh: &mut TriMesh,
    ) -> Result<(), Malformed> {
        for (k, &(j, primitive)) in primitives.iter().enumerate() {
            let start = mesh.triangles.len();
            let triangles = self.triangles(j, primitive, self.blocks.of_primitive[k])?;
            if mesh.triangles.is_empty() {
                mesh.triangles = triangles;
            } else {
                mesh.triangles.extend_from_slice(&triangles);
            }
            let end = u32::try_from(mesh.triangles.len()).map_err(|_too_many| {
                let place = Place::Json(format!("meshes[{}]", self.index));
                Malformed::new(place, "more than 4,294,967,295 triangles", AGAIN)
            })?;
            let material = primitive.material.map(|m| m.0 as u32);
            mesh.groups.push(Group { triangles: start as u32..end, material, ..Group::default() });
        }
        if matches!(&mesh.groups[..], [only] if only.material.is_none()) {
            mesh.groups.clear();
        }
        Ok(())
    }

    fn triangles(
        &mut self,
        j: usize,
        primitive: &Primitive,
        block: usize,
    ) -> Result<Vec<[u32; 3]>, Malformed> {
        let (base, count) = (self.blocks.list[block].base, self.blocks.list[block].count);
        let place = format!("meshes[{}].primitives[{j}].indices", self.index);
        let mut triangles = match (primitive.mode.map_or(4, |m| m.0), primitive.indices) {
            (5, _) => strip(&self.indices(primitive, count, &place)?),
            (6, _) => fan(&self.indices(primitive, count, &place)?),
            (_, Some(id)) if self.data.count(id, &place)?.is_multiple_of(3) => {
                self.data.triangles(id, &place)?
            }
            _ => {
                let indices = self.indices(primitive, count, &place)?;
                let (triangles, rest) = indices.as_chunks::<3>();
                if !rest.is_empty() {
                    let what =
                        format!("ignored the last {} of {} indices", rest.len(), indices.len());
                    self.warn(Some(j), what);
                }
                triangles.to_vec()
            }
        };
        let is_alone = self.blocks.list.len() == 1;
        let largest = if is_alone { None } else { triangles.as_flattened().iter().max() };
        if let Some(largest) = largest.filter(|&&i| i as usize >= count) {
            let what = format!("index {largest} of a primitive with {count} vertices");
            return Err(Malformed::new(Place::Json(place), what, AGAIN));
        }
        if base > 0 {
            for triangle in &mut triangles {
                *triangle = triangle.map(|i| i + base as u32);
            }
        }
        Ok(triangles)
    }

    /// The indices of a primitive; all vertices in order if it has none.
    fn indices(
        &self,
        primitive: &Primitive,
        count: usize,
        place: &str,
    ) -> Result<Vec<u32>, Malformed> {
        match primitive.indices {
            Some(id) => self.data.integers(id, place),
            None => {
                self.data.charge(count, size_of::<u32>(), || place.to_owned())?;
                Ok((0..count as u32).collect())
            }
        }
    }
}

/// Every other triangle of a strip turns the other way; doubled corners only link its parts.
fn strip(indices: &[u32]) -> Vec<[u32; 3]> {
    let turned = |(k, w): (usize, &[u32])| {
        if k % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] }
    };
    let real = |[a, b, c]: &[u32; 3]| a != b && b != c && c != a;
    indices.windows(3).enumerate().map(turned).filter(real).collect()
}

fn fan(indices: &[u32]) -> Vec<[u32; 3]> {
    let Some((&hub, rim)) = indices.split_first() else { return Vec::new() };
    rim.windows(2).map(|w| [w[0], w[1], hub]).collect()
}

/// Attributes.
impl Reader<'_, '_> {
    fn add_attributes(&mut self, mesh: &mut TriMesh) -> Result<(), Malformed> {
        let semantics: BTreeSet<&str> =
            self.blocks.list.iter().flat_map(|b| b.attributes.keys().copied()).collect();
        for semantic in semantics {
            if semantic == "POSITION" || is_skin(semantic) {
                continue;
            }
            let Some((name, width)) = attribute_name(semantic) else {
                self.warn(
                    None,
                    format!("skipped the attribute '{semantic}', which glTF does not know"),
                );
                continue;
            };
            if mesh.attributes.get(&name).is_some() {
                self.warn(None, format!("skipped '{semantic}': '{name}' is there already"));
                continue;
            }
            let values = self.attribute(semantic, width, mesh)?;
            mesh.attributes.set(name, values);
        }
        Ok(())
    }

    /// One attribute of all blocks, of `width` numbers a vertex or as many as the first has.
    fn attribute(
        &mut self,
        semantic: &str,
        width: Option<usize>,
        mesh: &TriMesh,
    ) -> Result<Values, Malformed> {
        let mut joined: Option<Values> = None;
        let mut absent = Vec::new();
        let mut floats = Vec::new();
        let mut used_width = width;
        for block in &self.blocks.list {
            let Some(&id) = block.attributes.get(semantic) else {
                let place = || self.place(block, "attributes");
                self.data.charge(block.count, size_of::<Vec4>(), place)?;
                absent.push((block.primitive, block.base..block.base + block.count));
                continue;
            };
            let place = self.place(block, &format!("attributes.{semantic}"));
            let mut values = self.data.values(id, &place)?;
            if semantic.starts_with("COLOR_") {
                values = with_alpha(values);
            }
            check_count(values.len(), block.count, place.clone())?;
            let wanted = *used_width.get_or_insert(values.width());
            if values.width() != wanted {
                let what = format!("{} numbers a vertex where {wanted} are needed", values.width());
                return Err(Malformed::new(Place::Json(place), what, AGAIN));
            }
            if self.blocks.list.len() == 1 {
                joined = Some(values);
            } else {
                floats.resize(block.base * wanted, 0.0);
                floats.extend_from_slice(values.as_floats());
            }
        }
        let wanted = used_width.unwrap_or(1);
        let mut values = joined.unwrap_or_else(|| {
            floats.resize(self.blocks.vertices * wanted, 0.0);
            Values::from_floats(wanted, floats).expect("widths are 1 to 4")
        });
        let smooth = match semantic {
            "NORMAL" if !absent.is_empty() => {
                vertex_normals(&mesh.positions, &mesh.triangles, &Run::default())
            }
            _ => Vec::new(),
        };
        for (primitive, vertices) in absent {
            self.warn(Some(primitive), format!("'{semantic}' is missing and was filled in"));
            fill(&mut values, semantic, vertices, &smooth);
        }
        let mended = zero_what_is_not_finite(&mut values);
        if mended > 0 {
            self.warn(None, format!("{mended} numbers of '{semantic}' are not finite: set to 0"));
        }
        Ok(values)
    }
}

fn is_skin(semantic: &str) -> bool {
    semantic.starts_with("JOINTS_") || semantic.starts_with("WEIGHTS_")
}

/// The name in Supple of a glTF attribute, and the numbers a vertex it must have.
fn attribute_name(semantic: &str) -> Option<(String, Option<usize>)> {
    let set = |prefix: &str, name: &str| {
        let set: u32 = semantic.strip_prefix(prefix)?.parse().ok()?;
        Some(if set == 0 { name.to_owned() } else { format!("{name}{set}") })
    };
    match semantic {
        "NORMAL" => Some((NORMAL.to_owned(), Some(3))),
        "TANGENT" => Some((TANGENT.to_owned(), Some(4))),
        _ => {
            if let Some(name) = set("TEXCOORD_", UV) {
                return Some((name, Some(2)));
            }
            if let Some(name) = set("COLOR_", COLOR) {
                return Some((name, Some(4)));
            }
            let painted = semantic.strip_prefix('_').filter(|name| !name.is_empty())?;
            Some((painted.to_owned(), None))
        }
    }
}

fn with_alpha(values: Values) -> Values {
    match values {
        Values::Vec3(colors) => Values::Vec4(colors.into_iter().map(|c| c.extend(1.0)).collect()),
        other => other,
    }
}

/// What an attribute is where a primitive does not give it.
fn fill(values: &mut Values, semantic: &str, vertices: Range<usize>, smooth: &[Vec3]) {
    match (semantic, values) {
        ("NORMAL", Values::Vec3(normals)) => {
            normals[vertices.clone()].copy_from_slice(&smooth[vertices]);
        }
        ("TANGENT", Values::Vec4(tangents)) => {
            tangents[vertices].fill(Vec4::new(1.0, 0.0, 0.0, 1.0));
        }
        (_, Values::Vec4(colors)) if semantic.starts_with("COLOR_") => {
            colors[vertices].fill(Vec4::ONE);
        }
        _ => {}
    }
}

fn zero_what_is_not_finite(values: &mut Values) -> usize {
    let numbers: &mut [f32] = match values {
        Values::Scalar(v) => v,
        Values::Vec2(v) => bytemuck::cast_slice_mut(v),
        Values::Vec3(v) => bytemuck::cast_slice_mut(v),
        Values::Vec4(v) => bytemuck::cast_slice_mut(v),
    };
    let mut mended = 0;
    for x in numbers.iter_mut().filter(|x| !x.is_finite()) {
        *x = 0.0;
        mended += 1;
    }
    mended
}

fn check_count(found: usize, expected: usize, place: String) -> Result<(), Malformed> {
    if found == expected {
        return Ok(());
    }
    let what = format!("{found} values for {expected} vertices");
    Err(Malformed::new(Place::Json(place), what, AGAIN))
}

/// Skin weights.
impl Reader<'_, '_> {
    fn skin_weights(&mut self) -> Result<Option<SkinWeights>, Malformed> {
        let is_skinned = |b: &SharedVertices<'_>| b.attributes.keys().any(|s| is_skin(s));
        if !self.blocks.list.iter().any(is_skinned) {
            return Ok(None);
        }
        let mut mended = Mended::default();
        let mut skin = SkinWeights::default();
        for block in &self.blocks.list {
            let sets = self.influence_sets(block)?;
            for vertex in 0..block.count {
                skin.push(mended.influences(&sets, vertex));
            }
            mended.unbound += if sets.is_empty() { block.count } else { 0 };
        }
        let Mended { scaled, negative, unbound } = mended;
        for (count, what) in [
            (scaled, "vertices have weights that do not sum to 1: scaled"),
            (negative, "weights are negative or not finite: set to 0"),
            (unbound, "vertices of a skinned mesh are bound to no joint"),
        ] {
            if count > 0 {
                self.warn(None, format!("{count} {what}"));
            }
        }
        Ok(Some(skin))
    }

    /// The joints and weights of each set of four.
    fn influence_sets(&self, block: &SharedVertices<'_>) -> Result<Vec<InfluenceSet>, Malformed> {
        let mut sets = Vec::new();
        for semantic in block.attributes.keys().filter(|s| is_skin(s)) {
            let (kind, set) = semantic.split_once('_').unwrap_or((semantic, ""));
            let partner = if kind == "JOINTS" { "WEIGHTS" } else { "JOINTS" };
            let partner = format!("{partner}_{set}");
            let place = self.place(block, &format!("attributes.{semantic}"));
            let Some(&weights) = block.attributes.get(partner.as_str()) else {
                let what = format!("'{semantic}' without '{partner}'");
                return Err(Malformed::new(Place::Json(place), what, AGAIN));
            };
            if kind != "JOINTS" {
                continue;
            }
            let joints: Vec<[u32; 4]> = self.data.integers(block.attributes[semantic], &place)?;
            let weights: Vec<[f32; 4]> = self.data.floats(weights, &place)?;
            check_count(joints.len(), block.count, place.clone())?;
            check_count(weights.len(), block.count, place.clone())?;
            if let Some(joint) = joints.iter().flatten().find(|&&j| j > u32::from(u16::MAX)) {
                let what = format!("joint {joint}: a skin can have 65,536 joints");
                return Err(Malformed::new(Place::Json(place), what, AGAIN));
            }
            sets.push(InfluenceSet { joints, weights });
        }
        Ok(sets)
    }
}

struct InfluenceSet {
    joints: Vec<[u32; 4]>,
    weights: Vec<[f32; 4]>,
}

/// What was wrong with skin weights.
#[derive(Default)]
struct Mended {
    scaled: usize,
    negative: usize,
    unbound: usize,
}

impl Mended {
    /// The influences of one vertex, with weights that sum to one.
    fn influences(&mut self, sets: &[InfluenceSet], vertex: usize) -> Vec<(u16, f32)> {
        let mut influences = Vec::with_capacity(4 * sets.len());
        let mut sum = 0.0_f32;
        for set in sets {
            for (&joint, &weight) in set.joints[vertex].iter().zip(&set.weights[vertex]) {
                if !(weight >= 0.0 && weight.is_finite()) {
                    self.negative += 1;
                } else if weight > 0.0 {
                    influences.push((joint as u16, weight));
                    sum += weight;
                }
            }
        }
        if influences.is_empty() {
            self.unbound += usize::from(!sets.is_empty());
        } else if (sum - 1.0).abs() > WEIGHT_SUM_TOLERANCE {
            self.scaled += 1;
            for (_, weight) in &mut influences {
                *weight /= sum;
            }
        }
        influences
    }
}

/// Morph targets.
impl Reader<'_, '_> {
    fn morphs(&mut self) -> Result<Vec<MorphTarget>, Malformed> {
        let counts = self.blocks.list.iter().map(|b| b.targets.len());
        let (Some(most), Some(fewest)) = (counts.clone().max(), counts.min()) else {
            return Ok(Vec::new());
        };
        if fewest < most {
            self.warn(None, format!("some primitives have {fewest} of {most} morph targets"));
        }
        let weights = &self.mesh.weights;
        if !weights.is_empty() && weights.len() != most {
            self.warn(None, format!("{} weights for {most} morph targets", weights.len()));
        }
        let known = |s: &String| s == "POSITION" || s == "NORMAL";
        let mut semantics =
            self.blocks.list.iter().flat_map(|b| b.targets).flat_map(BTreeMap::keys);
        if let Some(other) = semantics.find(|s| !known(s)).cloned() {
            self.warn(None, format!("morph targets of '{other}' were left out"));
        }
        (0..most).map(|t| self.morph(t)).collect()
    }

    fn morph(&self, t: usize) -> Result<MorphTarget, Malformed> {
        let accessor = |block: &SharedVertices<'_>, semantic: &str| {
            block.targets.get(t).and_then(|target| target.get(semantic)).copied()
        };
        let displacement = |semantic: &str| {
            let what = format!("targets[{t}].{semantic}");
            self.joined(Vec3::ZERO, |block| accessor(block, semantic), &what)
        };
        let has_normals = self.blocks.list.iter().any(|b| accessor(b, "NORMAL").is_some());
        let names = self.mesh.extras.as_ref().and_then(|e| e.get("targetNames"));
        let name = names.and_then(|n| n.get(t)).and_then(|n| n.as_str());
        Ok(MorphTarget {
            name: name.unwrap_or_default().to_owned(),
            positions: displacement("POSITION")?,
            normals: if has_normals { Some(displacement("NORMAL")?) } else { None },
            weight: self.mesh.weights.get(t).copied().filter(|w| w.is_finite()).unwrap_or(0.0),
        })
    }
}
