//! What a set of shapes needs before any blend.

use std::iter;
use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::anchor::{self, Motion, Placed};
use super::body::{Counts, SpringBody};
use super::lagged::{Factors, pins};
use super::rigid::{Rigid, drift};
use super::rotations::{rotation_vector, rotation_vectors};
use super::{Anchor, Error, Hold, Params, Shapes, weights};
use crate::Run;
use crate::mesh::measure::Bounds;
use crate::sparse::{Analysis, Entry, Matrix, VectorFactor, dissection};

/// Shapes agree at a vertex that is no farther apart than this part of the diagonal.
const AGREE: f64 = 1e-6;

/// Lengths that a target changes by less than this part of the base's are not kept.
const UNCHANGED: f64 = 1e-9;

/// A set of shapes, prepared for any number of blends.
#[derive(Clone, Debug)]
pub struct Solver {
    pub(super) params: Params,
    pub(super) body: SpringBody,
    pub(super) diagonal: f64,
    /// The vertices of the base and of each target, as given.
    pub(super) given: Vec<Vec<Vec3>>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) targets: Vec<Target>,
    pub(super) combinations: Vec<Vec<usize>>,
    /// Lengths in the base, and the part of them below which lengths are bent off.
    pub(super) rest: Vec<f64>,
    pub(super) short: Vec<f32>,
    pub(super) is_held: Vec<bool>,
    /// Nodes that no spring holds.
    pub(super) free: Vec<FreePiece>,
    pub(super) free_piece: Vec<u32>,
    pub(super) preconditioner: VectorFactor,
    /// The order in which nodes are eliminated, and nodes that hold the rigid motions of each free piece.
    pub(super) order: Vec<u32>,
    pub(super) pins: Vec<[u32; 3]>,
    pub(super) factors: Arc<Factors>,
    pub(super) anchors: Vec<Placed>,
    /// Whether free pieces are beside ones that are held: what turns there turns about a joint, not about its own middle.
    pub(super) is_jointed: bool,
}

/// A piece that nothing holds: it moves rigidly with its anchor.
#[derive(Clone, Debug)]
pub(super) struct FreePiece {
    pub(super) anchor: Vec<u32>,
    /// Where the anchor's centre is in the base.
    pub(super) centre: DVec3,
}

/// A target, seen by the springs.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// Without the rigid motion of free pieces.
    pub(super) positions: Vec<DVec3>,
    /// Springs of another length than in the base, and by how much.
    pub(super) springs: Vec<u32>,
    pub(super) longer: Vec<f64>,
    pub(super) omega: Vec<DVec3>,
    /// Rotation vector and way of the centre, of each free piece (its drift where pieces are jointed) and of each anchor.
    pub(super) motion: Vec<Motion>,
    pub(super) anchors: Vec<Motion>,
}

impl Solver {
    /// Prepares shapes.
    ///
    /// # Errors
    ///
    /// [`Error`] says what does not fit together; [`Error::Cancelled`].
    pub fn new(shapes: &Shapes<'_>, params: &Params, run: &Run<'_>) -> Result<Self, Error> {
        check(shapes, params)?;
        let mut all = shapes.clone();
        all.targets.extend(shapes.combinations.iter().map(|c| c.positions));
        let mut body = run.install(|| SpringBody::new(&all, params, run))?;
        if body.network.ends().is_empty() {
            return Err(Error::NoEdges);
        }
        run.check()?;
        let diagonal = f64::from(Bounds::of(shapes.base).map_or(0.0, |b| b.diagonal()));
        let anchors = anchor::add(&mut body, &params.anchors, diagonal);
        let mut is_held = held(&body, shapes, params, diagonal);
        let is_jointed = anchors.is_empty() && is_held.contains(&true);
        anchors.iter().flat_map(|a| a.corners).for_each(|i| is_held[i as usize] = true);
        let (free, free_piece) = free_pieces(&body, &is_held, params);
        let (preconditioner, order) = factorise(&body, &is_held, &free, run)?;
        let rest = body.network.lengths(&body.base);
        let targets = run.map_tasks(body.targets.len(), |t| {
            let mut target = Target::new(&body, t, (&free, &free_piece, &anchors), &rest, run);
            if is_jointed {
                target.motion.iter_mut().for_each(|[omega, way]| *way = drift(*omega, *way));
            }
            target
        });
        run.check()?;
        let short = shortest(&rest, &targets);
        let pins = free.iter().map(|piece| pins(&piece.anchor, &body.base)).collect();
        let given = all.targets.iter().map(|t| t.to_vec());
        Ok(Self {
            params: params.clone(),
            diagonal,
            given: iter::once(shapes.base.to_vec()).chain(given).collect(),
            triangles: shapes.triangles.to_vec(),
            targets,
            combinations: shapes.combinations.iter().map(|c| c.of.clone()).collect(),
            rest,
            short,
            is_held,
            free,
            free_piece,
            preconditioner,
            order,
            pins,
            factors: Arc::default(),
            anchors,
            is_jointed,
            body,
        })
    }

    /// What the network is made of.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.body.counts
    }

    /// How many weights a blend takes: one a target, the base not counted.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.targets.len() - self.combinations.len()
    }

    /// Triangles of the surface.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Diagonal of the base's box: the unit of tolerances.
    #[must_use]
    pub fn diagonal(&self) -> f64 {
        self.diagonal
    }

    /// Vertices that are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.body.node_of.iter().filter(|&&node| self.is_held[node as usize]).count()
    }
}

impl Target {
    fn new(
        body: &SpringBody,
        target: usize,
        (free, free_piece, anchors): (&[FreePiece], &[u32], &[Placed]),
        rest: &[f64],
        run: &Run<'_>,
    ) -> Self {
        let given = &body.targets[target];
        let fit = |piece: &FreePiece| {
            Rigid::fit(piece.anchor.iter().map(|&i| (body.base[i as usize], given[i as usize])))
        };
        let fits: Vec<Rigid> = free.iter().map(fit).collect();
        let back: Vec<Rigid> = fits.iter().map(Rigid::inverse).collect();
        // What anchors hold is seen from the first of them.
        let seen = anchors.first().map(|a| {
            let corner = |i: &u32| (given[*i as usize], body.base[*i as usize]);
            Rigid::fit(a.corners.iter().map(corner))
        });
        let aligned = |(x, piece): (&DVec3, &u32)| {
            back.get(*piece as usize).or(seen.as_ref()).map_or(*x, |b| b.apply(*x))
        };
        // Where nothing moves, nothing must change by rounding.
        let positions: Vec<DVec3> = if *given == body.base {
            given.clone()
        } else {
            given.iter().zip(free_piece).map(aligned).collect()
        };
        let lengths = body.network.lengths(given);
        let change = |s: &usize| (lengths[*s] - rest[*s]).abs() > UNCHANGED * rest[*s];
        let springs: Vec<u32> = (0..rest.len()).filter(change).map(|s| s as u32).collect();
        let longer = springs.iter().map(|&s| lengths[s as usize] - rest[s as usize]).collect();
        let roots = roots(body);
        let omega = rotation_vectors(&body.network, &body.base, &positions, &roots, run);
        let motion = fits.iter().map(|f| [rotation_vector(f.turn), f.to - f.from]).collect();
        // The first as it goes, the others as the first sees them: they turn with it.
        let shapes = iter::once(given).chain(iter::repeat(&positions));
        let anchors =
            anchors.iter().zip(shapes).map(|(a, shape)| a.motion(&body.base, shape)).collect();
        Self { positions, springs, longer, omega, motion, anchors }
    }
}

/// The node of each piece that is nearest to the piece's middle.
fn roots(body: &SpringBody) -> Vec<u32> {
    let (piece, pieces) = body.network.pieces();
    let mut middle = vec![(DVec3::ZERO, 0.0); pieces];
    for (x, &p) in body.base.iter().zip(&piece) {
        middle[p as usize].0 += *x;
        middle[p as usize].1 += 1.0;
    }
    let mut best = vec![(f64::INFINITY, 0); pieces];
    for (i, (x, &p)) in body.base.iter().zip(&piece).enumerate() {
        let (sum, count) = middle[p as usize];
        let away = (*x - sum / count).length_squared();
        if away < best[p as usize].0 {
            best[p as usize] = (away, i as u32);
        }
    }
    best.iter().map(|&(_, node)| node).collect()
}

/// Where each spring's lengths are bent off, as a part of its length in the base.
fn shortest(rest: &[f64], targets: &[Target]) -> Vec<f32> {
    let mut lowest = vec![1.0_f64; rest.len()];
    for target in targets {
        for (&s, longer) in target.springs.iter().zip(&target.longer) {
            let s = s as usize;
            if rest[s] > 0.0 {
                lowest[s] = lowest[s].min(1.0 + longer / rest[s]);
            }
        }
    }
    lowest.iter().map(|&q| weights::short_of(q) as f32).collect()
}

fn check(shapes: &Shapes<'_>, params: &Params) -> Result<(), Error> {
    let vertices = shapes.base.len();
    let combined = shapes.combinations.iter().map(|c| c.positions);
    for (k, shape) in
        iter::once(shapes.base).chain(shapes.targets.iter().copied()).chain(combined).enumerate()
    {
        if shape.len() != vertices {
            return Err(Error::OtherCount { shape: k, found: shape.len(), expected: vertices });
        }
        if let Some(vertex) = shape.iter().position(|p| !p.is_finite()) {
            return Err(Error::NotFinite { shape: k, vertex });
        }
    }
    let inside = shapes.inside.map_or(vertices, |t| t.positions.len().max(vertices));
    let filled = shapes.inside.iter().flat_map(|t| t.tets.as_flattened()).map(|v| (*v, inside));
    let own = shapes
        .triangles
        .as_flattened()
        .iter()
        .chain(shapes.tets.as_flattened())
        .map(|v| (*v, vertices));
    if let Some((vertex, vertices)) = own.chain(filled).find(|(v, n)| *v as usize >= *n) {
        return Err(Error::OutOfRange { vertex, vertices });
    }
    let held = if let Hold::Vertices(held) = &params.hold { held.as_slice() } else { &[] };
    if let Some(&vertex) = held.iter().chain(&params.anchor).find(|&&v| v as usize >= vertices) {
        return Err(Error::NoSuchVertex { vertex, vertices });
    }
    let is_placed = |a: &Anchor| !matches!(a, Anchor::At(at) if !at.is_finite());
    if !params.anchors.is_empty()
        && (params.hold != Hold::Nothing || !params.anchors.iter().all(is_placed))
    {
        return Err(Error::BadAnchor);
    }
    let targets = shapes.targets.len();
    for (combination, c) in shapes.combinations.iter().enumerate() {
        let mut of = c.of.clone();
        of.sort_unstable();
        of.dedup();
        if of.len() != c.of.len() || of.len() < 2 || of.iter().any(|&t| t >= targets) {
            return Err(Error::BadCombination { combination, targets });
        }
    }
    match shapes.stiffness {
        Some(paint) if paint.len() != vertices => {
            Err(Error::OtherPaint { found: paint.len(), expected: vertices })
        }
        _ => Ok(()),
    }
}

/// Nodes that a linear blend places: held ones, and those that no spring holds.
fn held(body: &SpringBody, shapes: &Shapes<'_>, params: &Params, diagonal: f64) -> Vec<bool> {
    let mut is_held: Vec<bool> =
        (0..body.base.len()).map(|i| body.network.around(i).is_empty()).collect();
    match &params.hold {
        Hold::Nothing => {}
        Hold::Agreeing => {
            let slack = ((AGREE * diagonal) as f32).powi(2);
            for (v, &node) in body.node_of.iter().enumerate() {
                let agrees = |t: &&[Vec3]| t[v].distance_squared(shapes.base[v]) <= slack;
                is_held[node as usize] |= shapes.targets.iter().all(agrees);
            }
        }
        Hold::Vertices(held) => {
            held.iter().for_each(|&v| is_held[body.node_of[v as usize] as usize] = true);
        }
    }
    is_held
}

/// Pieces in which no node is held, and the number of each node's.
fn free_pieces(body: &SpringBody, is_held: &[bool], params: &Params) -> (Vec<FreePiece>, Vec<u32>) {
    let (piece, pieces) = body.network.pieces();
    let mut is_free = vec![true; pieces];
    piece
        .iter()
        .zip(is_held)
        .filter(|(_, held)| **held)
        .for_each(|(p, _)| is_free[*p as usize] = false);
    let mut number = vec![u32::MAX; pieces];
    let mut count = 0;
    for (p, free) in is_free.iter().enumerate() {
        if *free {
            number[p] = count;
            count += 1;
        }
    }
    let free_piece: Vec<u32> = piece.iter().map(|&p| number[p as usize]).collect();
    let mut is_anchor = vec![false; body.base.len()];
    params.anchor.iter().for_each(|&v| is_anchor[body.node_of[v as usize] as usize] = true);
    let of = |f: u32, wanted: &[bool]| -> Vec<u32> {
        (0..body.base.len() as u32)
            .filter(|&i| free_piece[i as usize] == f && wanted[i as usize])
            .collect()
    };
    let piece = |f: u32| {
        let mut anchor = of(f, &is_anchor);
        if anchor.len() < 3 {
            anchor = of(f, &body.is_surface);
        }
        let sum: DVec3 = anchor.iter().map(|&i| body.base[i as usize]).sum();
        FreePiece { centre: sum / anchor.len().max(1) as f64, anchor }
    };
    ((0..count).map(piece).collect(), free_piece)
}

/// The constant matrix: held nodes left out, free pieces pinned at one node.
pub(super) fn factorise(
    body: &SpringBody,
    is_held: &[bool],
    free: &[FreePiece],
    run: &Run<'_>,
) -> Result<(VectorFactor, Vec<u32>), Error> {
    let held = |i: u32| is_held[i as usize];
    let mut entries = body.network.laplacian();
    entries.retain(|e| !held(e.row) && !held(e.column));
    let nodes = body.base.len();
    entries.extend((0..nodes as u32).filter(|&i| held(i)).map(|i| Entry {
        row: i,
        column: i,
        value: 1.0,
    }));
    let mut matrix = Matrix::new(nodes, &entries)?;
    let mut pins = vec![0.0; nodes];
    for piece in free {
        if let Some(&pin) = piece.anchor.get(piece.anchor.len() / 2) {
            pins[pin as usize] = matrix.diagonal(pin as usize);
        }
    }
    matrix.add_diagonal(pins);
    let points: Vec<Vec3> = body.base.iter().map(|p| p.as_vec3()).collect();
    let order = dissection::from_positions(&matrix.graph(), &points, run);
    let factor = Analysis::new(&matrix, &order)?.factorise(&matrix)?.vectors();
    Ok((factor, order))
}
