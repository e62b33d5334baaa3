//! The inside of a body, carried over to a target of which only the surface is known.
//!
//! The surface is fixed at the target. The displacement inside is harmonic over the springs at first; then each
//! node's star is turned as rigidly as possible and the nodes are moved to agree with their stars, in turn
//! (as-rigid-as-possible, Sorkine and Alexa 2007). The matrix is the same throughout, and for all targets.

use glam::{DMat3, DVec3};

use super::rigid::{Rigid, outer, rotation_of};
use crate::Run;
use crate::sparse::{Analysis, Entry, Factor, Matrix, dissection};
use crate::spring::network::Network;

/// Rounds of turning and moving: twelve left no tet inverted where harmonic displacements alone did.
const ROUNDS: usize = 12;

/// A body whose inside is to be carried over: `is_known` where targets are.
pub(super) struct Carry<'a> {
    network: &'a Network,
    base: &'a [DVec3],
    is_known: &'a [bool],
    inside: Option<Unknowns>,
}

impl<'a> Carry<'a> {
    pub(super) fn new(
        network: &'a Network,
        base: &'a [DVec3],
        is_known: &'a [bool],
        run: &Run<'_>,
    ) -> Self {
        let inside = Unknowns::new(network, is_known, base, run);
        Self { network, base, is_known, inside }
    }

    /// Where all nodes are in a target.
    pub(super) fn to(&self, target: &[DVec3], run: &Run<'_>) -> Vec<DVec3> {
        let Self { network, base, is_known, .. } = *self;
        let known = (0..base.len()).filter(|&i| is_known[i]);
        // Whole turns are taken out first: harmonic displacements shrink under rotation.
        let placed = Rigid::fit(known.map(|i| (base[i], target[i])));
        let back = placed.inverse();
        let mut x: Vec<DVec3> = (0..base.len())
            .map(|i| if is_known[i] { back.apply(target[i]) } else { base[i] })
            .collect();
        if let Some(inside) = &self.inside {
            inside.solve(network, &mut x, |d, _, _| d, base, run);
            for _ in 0..ROUNDS {
                let turns = turns(network, base, &x, run);
                let turned = |d: DVec3, i: usize, j: usize| 0.5 * (turns[i] * d + turns[j] * d);
                inside.solve(network, &mut x, turned, base, run);
            }
        }
        x.iter()
            .zip(target)
            .zip(is_known)
            .map(|((x, t), &known)| if known { *t } else { placed.apply(*x) })
            .collect()
    }
}

/// The rotation of each node's star.
pub(super) fn turns(network: &Network, base: &[DVec3], x: &[DVec3], run: &Run<'_>) -> Vec<DMat3> {
    run.map(base.len(), |i| DMat3::from_quat(rotation_of(&moments(network, base, x, i))))
}

/// `Σ k d dᵀ` over a node's springs: now, and in the base.
pub(super) fn moments(network: &Network, base: &[DVec3], x: &[DVec3], i: usize) -> DMat3 {
    let mut sum = DMat3::ZERO;
    for &[j, s] in network.around(i) {
        let j = j as usize;
        sum += outer(network.stiffness()[s as usize] * (x[i] - x[j]), base[i] - base[j]);
    }
    sum
}

/// The nodes that are solved for.
struct Unknowns {
    nodes: Vec<u32>,
    factor: Factor,
}

impl Unknowns {
    fn new(network: &Network, is_known: &[bool], base: &[DVec3], run: &Run<'_>) -> Option<Self> {
        let nodes: Vec<u32> = (0..base.len() as u32)
            .filter(|&i| !is_known[i as usize] && !network.around(i as usize).is_empty())
            .collect();
        let mut place = vec![u32::MAX; base.len()];
        nodes.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
        let inner = network.laplacian().into_iter().filter_map(|e| {
            let (row, column) = (place[e.row as usize], place[e.column as usize]);
            (row != u32::MAX && column != u32::MAX).then_some(Entry { row, column, value: e.value })
        });
        let mut entries: Vec<Entry> = inner.collect();
        // Pieces that hang on nothing known stay where they are, to rounding.
        let tiny = entries.iter().map(|e| e.value).fold(0.0, f64::max) * 1e-12;
        entries.extend((0..nodes.len() as u32).map(|i| Entry { row: i, column: i, value: tiny }));
        let matrix = Matrix::new(nodes.len(), &entries).ok()?;
        let points: Vec<_> = nodes.iter().map(|&i| base[i as usize].as_vec3()).collect();
        let order = dissection::from_positions(&matrix.graph(), &points, run);
        let factor = Analysis::new(&matrix, &order).ok()?.factorise(&matrix).ok()?;
        (!nodes.is_empty()).then_some(Self { nodes, factor })
    }

    /// Moves the unknowns so that `Σ k (x_i − x_j − turned(d⁰))` is zero at each.
    fn solve(
        &self,
        network: &Network,
        x: &mut [DVec3],
        turned: impl Fn(DVec3, usize, usize) -> DVec3,
        base: &[DVec3],
        run: &Run<'_>,
    ) {
        let count = self.nodes.len();
        // The residual is solved for: what is known need not be told from what is not.
        let mut columns = vec![0.0; 3 * count];
        for (k, &i) in self.nodes.iter().enumerate() {
            let i = i as usize;
            let mut sum = DVec3::ZERO;
            for &[j, s] in network.around(i) {
                let j = j as usize;
                let wanted = turned(base[i] - base[j], i, j);
                sum += network.stiffness()[s as usize] * (wanted - (x[i] - x[j]));
            }
            (0..3).for_each(|c| columns[c * count + k] = sum[c]);
        }
        self.factor.solve(&mut columns, &Run { threads: None, ..*run });
        for (k, &i) in self.nodes.iter().enumerate() {
            x[i as usize] += DVec3::new(columns[k], columns[count + k], columns[2 * count + k]);
        }
    }
}
