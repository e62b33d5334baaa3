//! From a body to the vertices and indices that are drawn.
//!
//! A vertex is doubled only where its corners differ (a texture seam, a crease); a mesh without such
//! places is drawn with the vertices it has. Bodies with a wireframe or flat shading have three
//! vertices a triangle.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::OnceLock;

use glam::{Mat3, Vec2, Vec3};
use supple::Run;
use supple::mesh::attribute::{COLOR, NORMAL, UV};
use supple::mesh::normals::vertex_normals;
use supple::mesh::volume::volume;
use supple::mesh::{CornerAttribute, Values};

use crate::view::{Body, DEFAULT_CREASE, NormalSource};

/// A vertex as it is sent to the GPU.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct Vertex {
    pub(crate) position: [f32; 3],
    pub(crate) normal: [f32; 3],
    pub(crate) color: [u8; 4],
    pub(crate) uv: [f32; 2],
    pub(crate) field: f32,
}

/// What is drawn of one body, in the scene's space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Geometry {
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) indices: Vec<[u32; 3]>,
    /// Whether it has no border and faces outwards, once somebody asked.
    closed: OnceLock<bool>,
}

/// A number that says what the geometry of a body is made of.
pub(crate) fn key(body: &Body<'_>) -> u64 {
    let (mesh, mut hash) = (body.mesh, DefaultHasher::new());
    let mut floats = |name: &str, values: &[f32]| {
        hash.write(name.as_bytes());
        hash.write(bytemuck::cast_slice(values));
    };
    floats("at", bytemuck::cast_slice(body.frame_positions()));
    floats("place", &body.transform.to_cols_array());
    floats("normals", body.normals.map_or(&[][..], bytemuck::cast_slice));
    floats("field", body.field.as_ref().map_or(&[][..], |f| f.values));
    mesh.attributes.iter().for_each(|a| floats(&a.name, a.values.as_floats()));
    mesh.corners.iter().for_each(|c| floats(&c.name, c.values.as_floats()));
    mesh.corners.iter().for_each(|c| hash.write(bytemuck::cast_slice(&c.triangles)));
    hash.write(bytemuck::cast_slice(&mesh.triangles));
    let shading = match body.shading {
        NormalSource::Auto => [0, 0],
        NormalSource::Flat => [1, 0],
        NormalSource::Smooth => [2, 0],
        NormalSource::Crease(angle) => [3, angle.to_bits()],
    };
    let switches = [body.wireframe.is_some(), body.paint.smoke, body.positions.is_some()];
    (shading, switches).hash(&mut hash);
    hash.finish()
}

/// The largest coordinate that can be drawn: the square of a distance must be a number.
pub const FARTHEST: f32 = 1e15;

/// What makes a body impossible to draw.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unfit {
    /// A list that must have one entry a vertex has not.
    #[error("{what} has {found} entries, but the mesh has {vertices} vertices")]
    WrongLength {
        /// Which list.
        what: String,
        /// Its length.
        found: usize,
        /// How many vertices there are.
        vertices: usize,
    },
    /// The place of the body in the scene is not finite.
    #[error("its transform is not finite")]
    Transform,
    /// A vertex is so far away that its distances overflow.
    #[error(
        "vertex {vertex} is at {position}: coordinates up to {FARTHEST:e} can be drawn; scale the \
         mesh down, or mend that vertex"
    )]
    TooFar {
        /// Which vertex.
        vertex: usize,
        /// Where it is.
        position: Vec3,
    },
    /// The mesh contradicts itself.
    #[error(transparent)]
    Defect(#[from] supple::mesh::tri::Defect),
}

/// Checks that everything a body names is there.
pub(crate) fn check(body: &Body<'_>) -> Result<(), Unfit> {
    body.mesh.validate()?;
    let vertices = body.mesh.positions.len();
    let lists = [
        ("the positions of the frame", body.positions.map(<[Vec3]>::len)),
        ("the normals of the frame", body.normals.map(<[Vec3]>::len)),
        ("the field", body.field.as_ref().map(|f| f.values.len())),
    ];
    for (what, found) in lists {
        match found {
            Some(found) if found != vertices => {
                return Err(Unfit::WrongLength { what: what.to_owned(), found, vertices });
            }
            _ => {}
        }
    }
    if !body.transform.is_finite() {
        return Err(Unfit::Transform);
    }
    let positions = body.frame_positions();
    if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
        let position = positions[vertex];
        return Err(supple::mesh::tri::Defect::NotFinite { vertex, position }.into());
    }
    let placed = |p: &Vec3| body.transform.transform_point3(*p);
    let far = |p: &Vec3| placed(p).abs().max_element() > FARTHEST;
    match positions.iter().position(far) {
        Some(vertex) => Err(Unfit::TooFar { vertex, position: placed(&positions[vertex]) }),
        None => Ok(()),
    }
}

impl Geometry {
    /// The vertices and triangles of a body that passed [`check`].
    pub(crate) fn new(body: &Body<'_>) -> Self {
        let mesh = body.mesh;
        let uv = mesh.corners.iter().find(|c| c.name == UV);
        let normals = Normals::of(body);
        let separate = body.wireframe.is_some() || matches!(normals, Normals::Flat);
        let turn = Mat3::from_mat4(body.transform).inverse().transpose();
        let smoke = body.paint.smoke.then(|| smoke(body));
        let source = Source { body, uv, normals: &normals, turn, colors: colors(body), smoke };
        let mut split = Split::new(mesh.positions.len());
        let mut geometry = Self { indices: mesh.triangles.clone(), ..Self::default() };
        geometry.vertices.reserve(mesh.positions.len());
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            for k in 0..3 {
                let normal =
                    if let Normals::Corner { index, .. } = &normals { index[t][k] } else { 0 };
                let key = [uv.map_or(0, |c| c.triangles[t][k]), normal];
                let next = geometry.vertices.len() as u32;
                let at = if separate { next } else { split.of(triangle[k], key, next) };
                if at == next {
                    geometry.vertices.push(source.vertex(t, k));
                }
                geometry.indices[t][k] = at;
            }
        }
        if body.transform.determinant() < 0.0 {
            geometry.indices.iter_mut().for_each(|t| t.swap(1, 2));
        }
        geometry
    }

    /// True for a body without a border whose triangles, as it stands, face outwards.
    pub(crate) fn is_closed(&self, body: &Body<'_>) -> bool {
        *self.closed.get_or_init(|| is_closed(body))
    }
}

/// Remembers which versions of a vertex exist: a short list a vertex.
struct Split {
    first: Vec<u32>,
    /// Key, index of the drawn vertex, next entry.
    entries: Vec<([u32; 2], u32, u32)>,
}

impl Split {
    const END: u32 = u32::MAX;

    fn new(vertices: usize) -> Self {
        Self { first: vec![Self::END; vertices], entries: Vec::with_capacity(vertices) }
    }

    /// The drawn vertex for this version of `vertex`; `next` if it is new.
    fn of(&mut self, vertex: u32, key: [u32; 2], next: u32) -> u32 {
        let mut at = self.first[vertex as usize];
        while at != Self::END {
            let (known, drawn, following) = self.entries[at as usize];
            if known == key {
                return drawn;
            }
            at = following;
        }
        let entry = self.entries.len() as u32;
        self.entries.push((key, next, self.first[vertex as usize]));
        self.first[vertex as usize] = entry;
        next
    }
}

struct Source<'a> {
    body: &'a Body<'a>,
    uv: Option<&'a CornerAttribute>,
    normals: &'a Normals,
    /// Turns normals into the scene.
    turn: Mat3,
    colors: Option<Vec<[u8; 4]>>,
    /// Of smoke, in the place of texture coordinates: density face on, and what hides it.
    smoke: Option<Vec<Vec2>>,
}

impl Source<'_> {
    fn vertex(&self, t: usize, k: usize) -> Vertex {
        let mesh = self.body.mesh;
        let i = mesh.triangles[t][k] as usize;
        let positions = self.body.frame_positions();
        let normal = match self.normals {
            Normals::Flat => face_normal(mesh.triangles[t].map(|i| positions[i as usize])),
            Normals::Vertex(n) => n[i],
            Normals::Corner { values, index } => values[index[t][k] as usize],
        };
        let uv = match (&self.smoke, self.uv) {
            (Some(smoke), _) => smoke[i],
            (None, Some(c)) => pair(&c.values, c.triangles[t][k] as usize),
            (None, None) => mesh.attributes.get(UV).map_or(Vec2::ZERO, |v| pair(v, i)),
        };
        Vertex {
            position: self.body.transform.transform_point3(positions[i]).to_array(),
            normal: (self.turn * normal.normalize_or_zero()).normalize_or_zero().to_array(),
            color: self.colors.as_ref().map_or([255; 4], |c| c[i]),
            uv: uv.to_array(),
            field: self.body.field.as_ref().map_or(0.0, |f| f.values[i]),
        }
    }
}

fn pair(values: &Values, i: usize) -> Vec2 {
    match values {
        Values::Vec2(v) => v[i],
        _ => Vec2::ZERO,
    }
}

/// The colours painted on the vertices, in eight bits a square root: close to how an eye sees
/// steps, and cheap to undo.
fn colors(body: &Body<'_>) -> Option<Vec<[u8; 4]>> {
    let byte = |v: f32| (255.0 * v.clamp(0.0, 1.0).sqrt() + 0.5) as u8;
    match body.mesh.attributes.get(COLOR)? {
        Values::Vec4(v) => Some(v.iter().map(|c| c.to_array().map(byte)).collect()),
        Values::Vec3(v) => Some(v.iter().map(|c| c.extend(1.0).to_array().map(byte)).collect()),
        _ => None,
    }
}

/// Density face on and the product of the terms that hide it, of each vertex.
fn smoke(body: &Body<'_>) -> Vec<Vec2> {
    let attributes = &body.mesh.attributes;
    let scalar = |name: &str| match attributes.get(name) {
        Some(Values::Scalar(values)) => Some(values),
        _ => None,
    };
    let hiding = ["shape", "curvature", "fade"].map(scalar);
    let alpha = |i: usize| match attributes.get(COLOR) {
        Some(Values::Vec4(colors)) => colors[i].w,
        _ => 1.0,
    };
    let Some(density) = scalar("density") else {
        return (0..body.mesh.positions.len()).map(|i| Vec2::new(alpha(i), 1.0)).collect();
    };
    let hidden = |i: usize| hiding.iter().flatten().map(|term| term[i]).product::<f32>();
    density.iter().enumerate().map(|(i, &density)| Vec2::new(density, hidden(i))).collect()
}

/// Where the normals of a body come from, decided.
enum Normals {
    Flat,
    Vertex(Vec<Vec3>),
    Corner { values: Vec<Vec3>, index: Vec<[u32; 3]> },
}

impl Normals {
    fn of(body: &Body<'_>) -> Self {
        match body.shading {
            NormalSource::Flat => Self::Flat,
            NormalSource::Smooth => Self::smooth(body),
            NormalSource::Crease(angle) => creased(body, angle),
            NormalSource::Auto => {
                Self::given(body).unwrap_or_else(|| creased(body, DEFAULT_CREASE))
            }
        }
    }

    fn smooth(body: &Body<'_>) -> Self {
        Self::Vertex(vertex_normals(body.frame_positions(), &body.mesh.triangles, &Run::default()))
    }

    /// The normals of the frame, or of the file if the positions are the file's too, on the side the
    /// triangles face.
    fn given(body: &Body<'_>) -> Option<Self> {
        let mut normals = Self::as_given(body)?;
        let facing = normals.facing(body);
        let (Self::Vertex(values) | Self::Corner { values, .. }) = &mut normals else {
            return Some(normals);
        };
        if facing < 0.0 {
            values.iter_mut().for_each(|n| *n = -*n);
        }
        Some(normals)
    }

    /// Positive if the normals are on the side the triangles face, over the whole mesh.
    fn facing(&self, body: &Body<'_>) -> f64 {
        let positions = body.frame_positions();
        let sum = |(t, triangle): (usize, &[u32; 3])| {
            let [a, b, c] = triangle.map(|i| positions[i as usize]);
            let face = (b - a).cross(c - a);
            let at = |k: usize| match self {
                Self::Flat => face,
                Self::Vertex(n) => n[triangle[k] as usize],
                Self::Corner { values, index } => values[index[t][k] as usize],
            };
            f64::from(face.dot(at(0) + at(1) + at(2)))
        };
        body.mesh.triangles.iter().enumerate().map(sum).sum()
    }

    fn as_given(body: &Body<'_>) -> Option<Self> {
        if let Some(normals) = body.normals {
            return Some(Self::Vertex(normals.to_vec()));
        }
        if body.positions.is_some() {
            return None;
        }
        if let Some(CornerAttribute { values: Values::Vec3(v), triangles, .. }) =
            body.mesh.corners.iter().find(|c| c.name == NORMAL)
        {
            return Some(Self::Corner { values: v.clone(), index: triangles.clone() });
        }
        body.mesh.attributes.normals().map(|n| Self::Vertex(n.to_vec()))
    }
}

/// True for a body without a border whose triangles, as it stands, face outwards.
fn is_closed(body: &Body<'_>) -> bool {
    let triangles = &body.mesh.triangles;
    let enclosed = || volume(body.frame_positions(), triangles, &Run::default());
    has_no_border(triangles) && enclosed() * f64::from(body.transform.determinant()) > 0.0
}

/// True if every edge is passed as often in one direction as in the other.
fn has_no_border(triangles: &[[u32; 3]]) -> bool {
    // A sum of one random number an edge, added one way and taken off the other. By chance it is zero
    // once in 2⁶⁴ meshes.
    let random = |a: u32, b: u32| {
        let z = (u64::from(a) << 32 | u64::from(b)).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let signed = |a: u32, b: u32| match a.cmp(&b) {
        Ordering::Less => random(a, b),
        Ordering::Equal => 0,
        Ordering::Greater => random(b, a).wrapping_neg(),
    };
    let sum = |sum: u64, &[a, b, c]: &[u32; 3]| {
        sum.wrapping_add(signed(a, b)).wrapping_add(signed(b, c)).wrapping_add(signed(c, a))
    };
    triangles.iter().fold(0, sum) == 0
}

/// Vertices with more corners than this have no creases.
const LARGE_FAN: usize = 64;

/// Angles over which an edge turns from smooth to sharp, as shares of the angle of a crease. An edge
/// that bends slowly past the angle of a crease must not change all at once: along it, light would jump
/// from vertex to vertex.
const CREASE_BLEND: [f32; 2] = [0.75, 1.05];

/// Smooth normals, except that a corner averages the triangles around its vertex the less, the farther
/// their normal is from its own triangle's, and not at all beyond `angle`.
fn creased(body: &Body<'_>, angle: f32) -> Normals {
    let (positions, triangles) = (body.frame_positions(), &body.mesh.triangles);
    let faces: Vec<Vec3> =
        triangles.iter().map(|t| face_normal(t.map(|i| positions[i as usize]))).collect();
    let welded = welded(positions);
    let around = Corners::around(triangles, &welded);
    let [same, apart] = CREASE_BLEND.map(|share| (share * angle).min(std::f32::consts::PI).cos());
    let mut values = Vec::with_capacity(positions.len());
    let mut index = vec![[0; 3]; triangles.len()];
    for vertex in 0..positions.len() {
        let corners = around.of(vertex);
        let weighted = |&(t, k): &(u32, u8)| {
            corner_angle(positions, triangles[t as usize], k) * faces[t as usize]
        };
        // What a triangle gives to another one's normal.
        let share = |a: &(u32, u8), b: &(u32, u8)| {
            let (a, b) = (faces[a.0 as usize], faces[b.0 as usize]);
            if a == Vec3::ZERO || b == Vec3::ZERO || a.dot(b) >= same {
                return 1.0;
            }
            let t = ((a.dot(b) - apart) / (same - apart)).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        };
        let smooth = corners.iter().map(weighted).sum::<Vec3>().normalize_or_zero();
        // Comparing all pairs of a large fan would take for ever, and fans are tips and caps.
        let all_close = corners.len() > LARGE_FAN
            || corners
                .iter()
                .enumerate()
                .all(|(i, a)| corners[..i].iter().all(|b| share(a, b) >= 1.0));
        let shared = values.len() as u32;
        values.push(smooth);
        for corner @ &(t, k) in corners {
            index[t as usize][k as usize] = if all_close {
                shared
            } else {
                let own = corners.iter().map(|other| share(corner, other) * weighted(other));
                values.push(own.sum::<Vec3>().normalize_or_zero());
                values.len() as u32 - 1
            };
        }
    }
    Normals::Corner { values, index }
}

/// For each vertex the first one at the very same place. Files cut surfaces open at texture seams;
/// light must not show it.
fn welded(positions: &[Vec3]) -> Vec<u32> {
    // Adding zero makes −0 and 0 the same.
    let key = |i: u32| (positions[i as usize] + Vec3::ZERO).to_array().map(f32::to_bits);
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_unstable_by_key(|&i| (key(i), i));
    let mut first: Vec<u32> = (0..positions.len() as u32).collect();
    for pair in order.windows(2) {
        if key(pair[0]) == key(pair[1]) {
            first[pair[1] as usize] = first[pair[0] as usize];
        }
    }
    first
}

fn face_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

fn corner_angle(positions: &[Vec3], triangle: [u32; 3], k: u8) -> f32 {
    let at = |j: u8| positions[triangle[usize::from((k + j) % 3)] as usize];
    let angle = (at(1) - at(0)).angle_between(at(2) - at(0));
    if angle.is_finite() { angle } else { 0.0 }
}

/// The corners at each vertex, as (triangle, corner) in compressed rows.
struct Corners {
    offsets: Vec<u32>,
    corners: Vec<(u32, u8)>,
}

impl Corners {
    /// The corners at each vertex; those of a vertex welded to another are at that other one.
    fn around(triangles: &[[u32; 3]], welded: &[u32]) -> Self {
        let vertices = welded.len();
        let mut offsets = vec![0_u32; vertices + 1];
        for &i in triangles.iter().flatten() {
            offsets[welded[i as usize] as usize + 1] += 1;
        }
        for i in 0..vertices {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut corners = vec![(0, 0); 3 * triangles.len()];
        for (t, triangle) in triangles.iter().enumerate() {
            for (k, &i) in triangle.iter().enumerate() {
                let at = &mut next[welded[i as usize] as usize];
                corners[*at as usize] = (t as u32, k as u8);
                *at += 1;
            }
        }
        Self { offsets, corners }
    }

    fn of(&self, vertex: usize) -> &[(u32, u8)] {
        &self.corners[self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::TriMesh;

    fn cube() -> TriMesh {
        let positions = (0..8)
            .map(|i| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32))
            .collect();
        let quads =
            [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        TriMesh::new(positions, triangles)
    }

    #[test]
    fn a_cube_has_creases_and_no_more_vertices_than_it_needs() {
        let mesh = cube();
        let creased = Geometry::new(&Body::new(&mesh));
        for v in &creased.vertices {
            let n = Vec3::from(v.normal).abs();
            assert!(n.max_element() > 0.9999, "normal {n} is not along an axis");
        }
        let smooth = Geometry::new(&Body { shading: NormalSource::Smooth, ..Body::new(&mesh) });
        assert_eq!(smooth.vertices.len(), 8);
        let flat = Geometry::new(&Body { shading: NormalSource::Flat, ..Body::new(&mesh) });
        assert_eq!(flat.vertices.len(), 36);
    }

    #[test]
    fn light_does_not_show_where_a_file_cuts_a_surface_open() {
        let fold = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.5)];
        let joined = TriMesh::new(fold.to_vec(), vec![[0, 1, 2], [2, 1, 3]]);
        let cut =
            TriMesh::new([0, 1, 2, 2, 1, 3].map(|i| fold[i]).to_vec(), vec![[0, 1, 2], [3, 4, 5]]);
        let normals = |mesh: &TriMesh| {
            let g = Geometry::new(&Body::new(mesh));
            g.indices
                .as_flattened()
                .iter()
                .map(|&i| g.vertices[i as usize].normal)
                .collect::<Vec<_>>()
        };
        assert_eq!(normals(&joined), normals(&cut));
    }

    #[test]
    fn light_does_not_jump_as_an_edge_is_bent_past_the_angle_of_a_crease() {
        let normal = |degrees: f32| {
            let wing = Vec3::new(degrees.to_radians().cos(), 0.0, degrees.to_radians().sin());
            let mesh =
                TriMesh::new(vec![Vec3::ZERO, Vec3::Y, -Vec3::X, wing], vec![[0, 1, 2], [1, 0, 3]]);
            let g = Geometry::new(&Body::new(&mesh));
            Vec3::from(g.vertices[g.indices[0][0] as usize].normal)
        };
        let bends: Vec<Vec3> = (0..=90).map(|degrees| normal(degrees as f32)).collect();
        for (degrees, pair) in bends.windows(2).enumerate() {
            let jump = pair[0].angle_between(pair[1]).to_degrees();
            assert!(jump < 4.0, "the normal turns by {jump}° from {degrees}° on");
        }
        assert!(bends[90].angle_between(bends[0]) < 1e-3, "a right angle is sharp: {}", bends[90]);
        assert!(
            (bends[40].angle_between(bends[0]).to_degrees() - 20.0).abs() < 0.1,
            "{}",
            bends[40]
        );
    }

    #[test]
    fn a_seam_doubles_a_vertex_only_where_it_is() {
        let mut mesh = TriMesh::new(
            vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)],
            vec![[0, 1, 2], [2, 1, 3]],
        );
        let values = Values::Vec2((0..5).map(|i| Vec2::splat(i as f32)).collect());
        mesh.corners.push(CornerAttribute {
            name: UV.into(),
            values,
            triangles: vec![[0, 1, 2], [2, 4, 3]],
        });
        let geometry = Geometry::new(&Body::new(&mesh));
        assert_eq!(geometry.vertices.len(), 5);
        let at = |t: usize, k: usize| geometry.vertices[geometry.indices[t][k] as usize];
        assert_eq!(at(0, 1).position, at(1, 1).position);
        assert_eq!((at(0, 1).uv[0], at(1, 1).uv[0]), (1.0, 4.0));
    }

    #[test]
    fn a_border_is_noticed() {
        let cube = cube();
        assert!(has_no_border(&cube.triangles));
        assert!(!has_no_border(&cube.triangles[1..]), "a triangle is missing");
        let mut turned = cube.triangles;
        turned[0].swap(1, 2);
        assert!(!has_no_border(&turned), "a triangle faces the wrong way");
    }

    /// Of those only the far side would keep light away.
    #[test]
    fn what_is_inside_out_is_not_closed() {
        let cube = cube();
        let mirror = glam::Mat4::from_scale(Vec3::new(-1.0, 1.0, 1.0));
        let flipped = cube.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        let flipped = TriMesh::new(cube.positions.clone(), flipped);
        let mirrored = |mesh| is_closed(&Body { transform: mirror, ..Body::new(mesh) });
        let found = [&cube, &flipped].map(|mesh| [is_closed(&Body::new(mesh)), mirrored(mesh)]);
        assert_eq!(
            found,
            [[true, false], [false, true]],
            "a cube and one inside out, each mirrored too"
        );
    }

    #[test]
    fn normals_follow_a_stretch() {
        let mesh =
            TriMesh::new(vec![Vec3::ZERO, Vec3::new(1.0, -1.0, 0.0), Vec3::Z], vec![[0, 1, 2]]);
        let transform = glam::Mat4::from_scale(Vec3::new(2.0, 1.0, 1.0));
        let geometry = Geometry::new(&Body { transform, ..Body::new(&mesh) });
        let v = geometry.vertices[1];
        let edge = Vec3::from(v.position);
        assert!(edge.dot(Vec3::from(v.normal)).abs() < 1e-6, "{} on {edge}", Vec3::from(v.normal));
    }

    #[test]
    fn lists_of_the_wrong_length_are_refused() {
        let mesh = cube();
        let body = Body { positions: Some(&mesh.positions[..3]), ..Body::new(&mesh) };
        let error = check(&body).unwrap_err();
        assert!(error.to_string().contains("3 entries"), "{error}");
    }
}
