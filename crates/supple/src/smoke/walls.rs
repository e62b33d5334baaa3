//! What stands in a flow: the surface between fluid and what is not, as kind `walls` of a body.
//!
//! # Method
//!
//! The share of fluid is looked at on a lattice over the flow's bounds, evened out twice with the mean of six neighbours
//! (a mask knows no half cells, and its stairs would be all one sees), and cut at one half by surface nets: a vertex in
//! every cell that is crossed, at the mean of its crossings. Beyond the bounds everything is fluid. What the zoo's own flows
//! pass is drawn as it was before it became cells.
//!
//! # Limits
//!
//! Edges are rounded by about a cell of the lattice (`the_wall_of_a_masked_ball_is_a_ball`). A flow without masked cells
//! has no walls.
//!
//! # References
//!
//! S. F. F. Gibson: Constrained elastic surface nets, MICCAI 1998.

use std::sync::Arc;

use fast_surface_nets::ndshape::RuntimeShape;
use fast_surface_nets::{SurfaceNetsBuffer, surface_nets};
use glam::{DVec3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flow::analytic::Analytic;
use crate::flow::{Flow, Unreadable};
use crate::mesh::{Shape, Topology};
use crate::modifier::{Halt, Inputs, Modifier, Moment, Need, Report, Stage, Stateless};
use crate::zoo::profile;
use crate::{Run, TriMesh};

/// Samples along the longest side, at most.
const ALONG: f64 = 160.0;

/// Passes in which stairs are evened out.
const PASSES: usize = 2;

/// The share of fluid on a lattice.
#[derive(Clone, Debug)]
struct Lattice {
    size: [usize; 3],
    origin: DVec3,
    spacing: DVec3,
    fluid: Vec<f32>,
}

impl Lattice {
    fn of(flow: &Flow, t: f64, run: &Run<'_>) -> Result<Self, Unreadable> {
        let [low, high] = flow.bounds().map(DVec3::from);
        let extent = high - low;
        let step = (extent.max_element() / ALONG).max(f64::MIN_POSITIVE);
        let inner = extent.to_array().map(|e| ((e / step).round() as usize + 1).max(1));
        let spacing = DVec3::from([0, 1, 2].map(|a| extent[a] / (inner[a] - 1).max(1) as f64));
        // A layer of fluid around it, so that every wall is closed.
        let size = inner.map(|n| n + 2);
        let origin = low - spacing;
        let mut lattice = Self { size, origin, spacing, fluid: vec![1.0; size.iter().product()] };
        let places: Vec<[f64; 3]> = (0..inner.iter().product())
            .map(|i| (low + spacing * place(i, inner)).to_array())
            .collect();
        for (i, v) in flow.velocities(&places, t, run)?.into_iter().enumerate() {
            let at = place(i, inner) + DVec3::ONE;
            let number = (at.z as usize * size[1] + at.y as usize) * size[0] + at.x as usize;
            lattice.fluid[number] = v[3] as f32;
        }
        Ok(lattice)
    }

    /// Every sample the mean of itself and its neighbours, half and half.
    fn even_out(&mut self) {
        let [nx, ny, nz] = self.size;
        let strides = [1, nx, nx * ny];
        let before = self.fluid.clone();
        for (i, fluid) in self.fluid.iter_mut().enumerate() {
            let at = [i % nx, i / nx % ny, i / (nx * ny)];
            let mut sum = 0.0;
            for a in 0..3 {
                let n = [nx, ny, nz][a];
                sum += if at[a] > 0 { before[i - strides[a]] } else { 1.0 };
                sum += if at[a] + 1 < n { before[i + strides[a]] } else { 1.0 };
            }
            *fluid = 0.5 * before[i] + sum / 12.0;
        }
    }
}

fn place(i: usize, n: [usize; 3]) -> DVec3 {
    DVec3::new((i % n[0]) as f64, (i / n[0] % n[1]) as f64, (i / (n[0] * n[1])) as f64)
}

/// The surface of all that is not fluid at a time; empty if there is nothing.
///
/// # Errors
///
/// [`Unreadable`] if a level of the flow cannot be read.
pub fn mesh(flow: &Flow, t: f64, run: &Run<'_>) -> Result<TriMesh, Unreadable> {
    if let Flow::Analytic(formula) = flow {
        return Ok(match formula {
            Analytic::Wake => profile::extruded(&profile::circle(0.5), [0.0, 4.0]),
            _ => TriMesh::default(),
        });
    }
    if let Some(known) = flow.walls() {
        return Ok(known);
    }
    let mut lattice = Lattice::of(flow, t, run)?;
    if lattice.fluid.iter().all(|fluid| *fluid > 0.5) {
        return Ok(TriMesh::default());
    }
    (0..PASSES).for_each(|_| lattice.even_out());
    let size = lattice.size.map(|n| n as u32);
    let field: Vec<f32> = lattice.fluid.iter().map(|fluid| fluid - 0.5).collect();
    let mut net = SurfaceNetsBuffer::default();
    let shape = RuntimeShape::<u32, 3>::new(size);
    surface_nets(&field, &shape, [0; 3], size.map(|n| n - 1), &mut net);
    let to_world =
        |p: &[f32; 3]| (lattice.origin + lattice.spacing * DVec3::from(p.map(f64::from))).as_vec3();
    let positions = net.positions.iter().map(to_world).collect();
    let triangles = net.indices.chunks_exact(3).map(|t| [t[0], t[1], t[2]]).collect();
    Ok(TriMesh::new(positions, triangles))
}

/// The walls of a flow, to be shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WallsParams {
    /// The flow, by its name in the scene.
    pub flow: String,
}

/// The walls of a flow, as they are at the scene's start.
#[derive(Debug)]
pub struct Walls {
    positions: Vec<Vec3>,
    topology: Arc<Topology>,
}

impl Modifier for Walls {
    const KIND: &'static str = "walls";
    const STAGES: &'static [Stage] = &[Stage::World];
    type Params = WallsParams;
    type State = Stateless;

    fn needs(params: &WallsParams) -> Vec<Need> {
        vec![Need::Flow(params.flow.clone())]
    }

    fn prepare(params: &WallsParams, from: &Inputs<'_>) -> Result<Self, String> {
        if !from.rest.positions.is_empty() {
            return Err("walls are made from a flow: give them a body that is empty".to_owned());
        }
        let (named, flow) = super::modifier::flow_of(&params.flow, from)?;
        let mesh = mesh(&flow, named.time(0.0), from.run).map_err(|error| error.to_string())?;
        if mesh.triangles.is_empty() {
            return Err(format!("the flow '{}' has no walls: all of it is fluid", params.flow));
        }
        let topology = Arc::new(Topology::Triangles(mesh.triangles));
        Ok(Self { positions: mesh.positions, topology })
    }

    fn begin(&self, _: &WallsParams, _: &Moment<'_>) -> Stateless {
        Stateless {}
    }

    fn deform(
        &self,
        _: &WallsParams,
        _: &Moment<'_>,
        _: &Stateless,
        shape: &mut Shape,
        _: &mut Report,
    ) -> Result<(), Halt> {
        shape.positions.clone_from(&self.positions);
        shape.topology = Arc::clone(&self.topology);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::grid::Axis;
    use crate::flow::sampled::Sampled;
    use crate::mesh::volume::volume;

    #[test]
    fn the_wall_of_a_masked_ball_is_a_ball() {
        let axis = || Axis::even(-2.0, 0.1, 41).unwrap();
        let ball = |[x, y, z]: [f64; 3], _| {
            let fluid = f64::from(u8::from(x * x + y * y + z * z > 1.0));
            [fluid, 0.0, 0.0, fluid]
        };
        let flow = Sampled::new([axis(), axis(), axis()], &[0.0], ball).into_flow().unwrap();
        let mesh = mesh(&flow, 0.0, &Run::default()).unwrap();
        let distances = mesh.positions.iter().map(|p| p.length());
        let (near, far) = distances.fold((f32::MAX, 0.0_f32), |(a, b), d| (a.min(d), b.max(d)));
        assert!(near > 0.86 && far < 1.08, "{near} {far}");
        let volume = volume(&mesh.positions, &mesh.triangles, &Run::default());
        assert!((volume / 4.19 - 1.0).abs() < 0.1, "outwards: {volume}");
    }

    #[test]
    fn only_what_has_an_inside_has_walls() {
        let run = Run::default();
        let of = |formula| mesh(&Flow::Analytic(formula), 0.0, &run).unwrap();
        assert!(of(Analytic::Abc).triangles.is_empty());
        let cylinder = of(Analytic::Wake);
        let volume = volume(&cylinder.positions, &cylinder.triangles, &run);
        assert!((volume - std::f64::consts::PI).abs() < 0.01, "{volume}");
    }
}
