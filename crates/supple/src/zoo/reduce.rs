//! Reduction of a closed mesh to an exact number of triangles by edge collapses.
//!
//! # Method
//!
//! The cheapest edge collapses to the surface point nearest its middle. An edge costs its length,
//! more where the surface bends: `|e|² (1 + (L κ)²)` with `κ` the curvature at its ends and `L` the
//! mean edge length of the wanted mesh, so ears and fingers keep more triangles than a flank. Each
//! collapse takes exactly two triangles. It is refused if it would leave the mesh no manifold (the
//! link condition), turn a triangle away from the surface's normals, or make a needle. When every
//! edge left is refused, the limit on needles is loosened.
//!
//! # References
//!
//! - H. Hoppe and others. Mesh optimization. SIGGRAPH, 1993.
//! - T. K. Dey, H. Edelsbrunner, S. Guha, D. V. Nekhayev. Topology preserving edge contraction.
//!   Publications de l'Institut Mathématique, 1999.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use glam::DVec3;

use super::fabric::{Fabric, area_normal, quality};
use super::solid::Solid;
use crate::Run;
use crate::run::Cancelled;

/// Worst quality of a triangle that a collapse may leave, strict at first.
const QUALITY: [f64; 3] = [0.35, 0.15, 0.05];
/// Smallest cosine between a triangle and the surface's normal at its corners.
const UPRIGHT: f64 = 0.35;
/// Cap on the curvature in units of the wanted edge length: how much denser bends may be.
const BEND_CAP: f64 = 3.0;
/// Most triangles around a vertex.
const VALENCE: usize = 9;
/// Collapses between two looks at the cancel flag.
const CHECK_EVERY: usize = 4096;

/// Collapses edges until `wanted` triangles are left, or none may be collapsed any more.
pub(super) fn reduce(
    fabric: &mut Fabric,
    solid: &Solid,
    wanted: usize,
    run: &Run<'_>,
) -> Result<(), Cancelled> {
    let mut reducer = Reducer::new(fabric, solid, wanted, run);
    for floor in QUALITY {
        reducer.collapse_until(wanted, floor, run)?;
    }
    Ok(())
}

/// An edge in the queue, valid while its ends have not moved.
#[derive(PartialEq)]
struct Candidate {
    cost: f64,
    ends: [u32; 2],
    stamps: [u32; 2],
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cost.total_cmp(&other.cost).then_with(|| self.ends.cmp(&other.ends))
    }
}

struct Reducer<'a> {
    fabric: &'a mut Fabric,
    solid: &'a Solid,
    normals: Vec<DVec3>,
    /// `L κ` at each vertex.
    bend: Vec<f64>,
    stamps: Vec<u32>,
    queue: BinaryHeap<Reverse<Candidate>>,
}

impl<'a> Reducer<'a> {
    fn new(fabric: &'a mut Fabric, solid: &'a Solid, wanted: usize, run: &Run<'_>) -> Self {
        let n = fabric.positions.len();
        let normals = run.map(n, |v| solid.gradient(fabric.positions[v]).normalize_or_zero());
        let area: f64 = (0..fabric.triangles.len())
            .map(|t| 0.5 * area_normal(fabric.points(t as u32)).length())
            .sum();
        // Equilateral triangles of this edge length would cover the area.
        let edge = (area / wanted.max(4) as f64 * 4.0 / 1.732_050_807_568_877_2).sqrt();
        let bend = run.map(n, |v| (edge * curvature(fabric, &normals, v as u32)).min(BEND_CAP));
        Self { fabric, solid, normals, bend, stamps: vec![0; n], queue: BinaryHeap::new() }
    }

    fn collapse_until(
        &mut self,
        wanted: usize,
        floor: f64,
        run: &Run<'_>,
    ) -> Result<(), Cancelled> {
        if self.fabric.triangle_count() <= wanted {
            return Ok(());
        }
        self.fill_queue();
        let mut tried = 0;
        while self.fabric.triangle_count() > wanted {
            let Some(Reverse(edge)) = self.queue.pop() else {
                return Ok(());
            };
            tried += 1;
            if tried % CHECK_EVERY == 0 {
                run.check()?;
            }
            if self.is_current(&edge) {
                self.try_collapse(edge.ends, floor);
            }
        }
        Ok(())
    }

    fn fill_queue(&mut self) {
        self.queue.clear();
        for a in 0..self.fabric.positions.len() as u32 {
            self.queue_edges(a, |a, b| a < b);
        }
    }

    fn queue_edges(&mut self, a: u32, wants: impl Fn(u32, u32) -> bool) {
        for b in self.fabric.neighbours(a).filter(|&b| wants(a, b)) {
            let ends = [a.min(b), a.max(b)];
            let stamps = ends.map(|v| self.stamps[v as usize]);
            let [p, q] = ends.map(|v| self.fabric.positions[v as usize]);
            let bend = self.bend[a as usize].max(self.bend[b as usize]);
            let cost = (q - p).length_squared() * (1.0 + bend * bend);
            self.queue.push(Reverse(Candidate { cost, ends, stamps }));
        }
    }

    fn is_current(&self, edge: &Candidate) -> bool {
        edge.ends.map(|v| self.stamps[v as usize]) == edge.stamps
    }

    fn try_collapse(&mut self, [a, b]: [u32; 2], floor: f64) {
        let valence = self.fabric.around(a).len() + self.fabric.around(b).len() - 4;
        if valence > VALENCE || !self.fabric.may_collapse(a, b) {
            return;
        }
        let [p, q] = [a, b].map(|v| self.fabric.positions[v as usize]);
        let target = self.solid.project(0.5 * (p + q), 2);
        let normal = self.solid.gradient(target).normalize_or_zero();
        if !self.fits(a, b, (target, normal), floor) || !self.fits(b, a, (target, normal), floor) {
            return;
        }
        self.fabric.collapse(a, b);
        self.fabric.positions[a as usize] = target;
        self.normals[a as usize] = normal;
        self.bend[a as usize] = self.bend[a as usize].max(self.bend[b as usize]);
        self.stamps[a as usize] += 1;
        self.stamps[b as usize] = u32::MAX;
        self.queue_edges(a, |_, _| true);
    }

    /// True if the triangles around `v` without `other` stay upright and no needles when `v` moves
    /// to the target.
    fn fits(&self, v: u32, other: u32, (target, normal): (DVec3, DVec3), floor: f64) -> bool {
        self.fabric.around(v).iter().all(|&t| {
            let corners = self.fabric.corners(t);
            if corners.contains(&other) {
                return true;
            }
            let points =
                corners.map(|c| if c == v { target } else { self.fabric.positions[c as usize] });
            let face = area_normal(points);
            let lean = UPRIGHT * face.length();
            let upright = corners
                .iter()
                .all(|&c| face.dot(if c == v { normal } else { self.normals[c as usize] }) > lean);
            upright && quality(points) > floor
        })
    }
}

/// The steepest turn of the normal along an edge at `v`, per length.
fn curvature(fabric: &Fabric, normals: &[DVec3], v: u32) -> f64 {
    let (p, n) = (fabric.positions[v as usize], normals[v as usize]);
    let turn = |w: u32| {
        let length = (fabric.positions[w as usize] - p).length();
        if length > 0.0 { (normals[w as usize] - n).length() / length } else { 0.0 }
    };
    fabric.neighbours(v).map(turn).fold(0.0, f64::max)
}
