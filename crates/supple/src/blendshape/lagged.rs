//! The curvature of some blends ago, factorised: a far better preconditioner than the constant matrix where a body is thin.
//!
//! # Method
//!
//! While weights move on, the curvature at the last equilibrium is factorised beside a solve, on another thread if there
//! is one, and serves the next ones ([`AGE`]). At an equilibrium the true curvature is definite; should rounding say
//! otherwise, the clamped one is taken. A piece that nothing holds is pinned at three nodes by exactly the six directions
//! of its rigid motions, which leaves conjugate gradients nothing to do for the pins.
//!
//! What is remembered in a [`History`](super::History) is where the curvature was taken, so that a blend has the same bits
//! whether the factor is still at hand or made again.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use glam::{DMat3, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::prepare::Solver;
use super::rigid::outer;
use super::terms::Term;
use super::weights;
use crate::Run;
use crate::sparse::{BlockFactor, Blocks};
use crate::spring::network::{Curvature, Tangent};

/// Solves that a factor serves: five iterations when it is up to six blends old, eight at twelve.
pub(super) const AGE: u32 = 6;

/// Numbers of a factor beyond which it costs more than it gives: bodies with as many are well filled, and the constant
/// matrix does for them.
const MOST_ENTRIES: usize = 16_000_000;

/// Added to the diagonal, in parts of it: single precision must not lose definiteness.
const SLACK: f64 = 1e-8;

/// How much stiffer nodes are that hold a body as long as it is touched.
const HELD: f64 = 1e4;

/// Factors that are kept at hand.
const KEPT: usize = 2;

/// Where a curvature was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) weights: Vec<f64>,
    pub(super) at: Vec<Vec3>,
    /// Solves since.
    pub(super) age: u32,
}

/// The pattern, and the last factors.
#[derive(Debug, Default)]
pub(super) struct Factors {
    blocks: OnceLock<Option<Blocks>>,
    kept: Mutex<Vec<Kept>>,
}

#[derive(Debug)]
struct Kept {
    taken: Taken,
    factor: Option<Arc<BlockFactor>>,
}

impl Taken {
    fn is_of(&self, other: &Self) -> bool {
        self.weights == other.weights && self.at == other.at
    }
}

impl Solver {
    /// Whether factors of the curvature are worth having.
    pub(super) fn is_lagging(&self) -> bool {
        9 * self.preconditioner.entries() <= MOST_ENTRIES
    }

    /// The factor of a curvature, at hand or made again.
    pub(super) fn lagged(&self, taken: &Taken, run: &Run<'_>) -> Option<Arc<BlockFactor>> {
        let at_hand =
            |kept: &Vec<Kept>| kept.iter().find(|k| k.taken.is_of(taken)).map(|k| k.factor.clone());
        let kept = || self.factors.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(factor) = at_hand(&kept()) {
            return factor;
        }
        let factor = self.factorised(taken, run).map(Arc::new);
        let mut kept = kept();
        kept.insert(0, Kept { taken: taken.clone(), factor: factor.clone() });
        kept.truncate(KEPT);
        factor
    }

    fn factorised(&self, taken: &Taken, run: &Run<'_>) -> Option<BlockFactor> {
        let x: Vec<DVec3> = taken.at.iter().map(|p| p.as_dvec3()).collect();
        let (lengths, _) = self.lengths(&weights::of_shapes(&taken.weights, &self.combinations));
        // One thread: the others have a solve to do.
        let alone = Run { threads: None, ..*run };
        let pinned = |diagonal: &mut [DMat3]| self.pins.iter().for_each(|p| pin(diagonal, p, &x));
        self.factor_of((&x, &lengths), pinned, &alone)
    }

    /// The factor of the curvature at a place, with what acts on single nodes, and more nodes held than by the solver.
    pub(super) fn factor_with(
        &self,
        (x, lengths): (&[DVec3], &[f64]),
        (terms, is_held): (&[Term], &[bool]),
        run: &Run<'_>,
    ) -> Option<BlockFactor> {
        let acted_on = |diagonal: &mut [DMat3]| {
            terms.iter().for_each(|t| diagonal[t.node()] += t.derivatives(x).1);
            let held = diagonal.iter_mut().zip(is_held).zip(&self.is_held);
            held.filter(|((_, held), own)| **held && !**own).for_each(|((d, _), _)| *d *= HELD);
        };
        self.factor_of((x, lengths), acted_on, run)
    }

    /// The factor of the curvature with its diagonal changed; of the clamped one if rounding leaves it indefinite.
    fn factor_of(
        &self,
        (x, lengths): (&[DVec3], &[f64]),
        change: impl Fn(&mut [DMat3]),
        run: &Run<'_>,
    ) -> Option<BlockFactor> {
        let network = &self.body.network;
        let blocks = self.factors.blocks.get_or_init(|| {
            Blocks::new(network.ends(), &self.is_held, &self.order)
                .ok()
                .filter(|b| b.factor_entries() <= MOST_ENTRIES)
        });
        let (mut slope, mut tangent) = (Vec::new(), Tangent::default());
        network.slope(x, lengths, &mut slope, &mut tangent, run);
        [Curvature::True, Curvature::Clamped].into_iter().find_map(|which| {
            let mut diagonal = self.diagonal_blocks(&tangent, which, x.len());
            change(&mut diagonal);
            let block = |s: usize| tangent.block(s, which);
            blocks.as_ref()?.factorise(network.ends(), &diagonal, block).ok()
        })
    }

    /// The curvature's own blocks.
    fn diagonal_blocks(&self, tangent: &Tangent, which: Curvature, nodes: usize) -> Vec<DMat3> {
        let mut diagonal = vec![DMat3::ZERO; nodes];
        for (s, ends) in self.body.network.ends().iter().enumerate() {
            let block = tangent.block(s, which);
            ends.iter().for_each(|&i| diagonal[i as usize] += block);
        }
        for (own, &held) in diagonal.iter_mut().zip(&self.is_held) {
            if held {
                *own = DMat3::IDENTITY;
            } else {
                let [a, b, c] = [own.x_axis.x, own.y_axis.y, own.z_axis.z];
                *own += DMat3::from_diagonal(DVec3::splat(SLACK * (a + b + c)));
            }
        }
        diagonal
    }
}

/// Holds the rigid motions of a piece: a node at its place, the next across the line between them, the last across their plane.
fn pin(diagonal: &mut [DMat3], &[a, b, c]: &[u32; 3], x: &[DVec3]) {
    let [a, b, c] = [a, b, c].map(|v| v as usize);
    let size = |m: &DMat3| (m.x_axis.x + m.y_axis.y + m.z_axis.z) / 3.0;
    let [ka, kb, kc] = [a, b, c].map(|v| size(&diagonal[v]));
    let along = (x[b] - x[a]).normalize_or_zero();
    let across = along.cross(x[c] - x[a]).normalize_or_zero();
    diagonal[a] += ka * DMat3::IDENTITY;
    diagonal[b] += kb * (DMat3::IDENTITY - outer(along, along));
    diagonal[c] += kc * outer(across, across);
}

/// Three nodes far apart: any, the farthest from it, the farthest from the line through both.
pub(super) fn pins(nodes: &[u32], x: &[DVec3]) -> [u32; 3] {
    let farthest = |away: &dyn Fn(DVec3) -> f64| {
        let mut best = (0.0, nodes.first().copied().unwrap_or(0));
        for &i in nodes {
            let far = away(x[i as usize]);
            if far > best.0 {
                best = (far, i);
            }
        }
        best.1
    };
    let first = nodes.first().copied().unwrap_or(0);
    let from = x[first as usize];
    let second = farthest(&|p| (p - from).length_squared());
    let along = (x[second as usize] - from).normalize_or_zero();
    [first, second, farthest(&|p| along.cross(p - from).length_squared())]
}
