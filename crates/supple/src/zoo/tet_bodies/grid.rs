//! Grids of cubes cut into five tets each, neighbours mirrored, so that no handedness is left.
//!
//! The common cut into six tets along one diagonal twists what contracts: a ring contraction of a straight tube turns
//! its ends by about ten degrees against each other. Five tets, every other cube mirrored, do not
//! (`contracting_rings_do_not_twist_a_tube`).

use glam::{DVec3, UVec3};

use crate::mesh::{TetMesh, Values};

/// Vertices of a grid along its three axes; the second may run around in a circle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) vertices: UVec3,
    /// Whether the last cell of the second axis ends at its first vertex; needs an even number of cells.
    pub(super) ring: bool,
}

impl Grid {
    pub(super) fn block(x: u32, y: u32, z: u32) -> Self {
        Self { vertices: UVec3::new(x, y, z), ring: false }
    }

    /// The mesh with its vertices at `place`, which gets coordinates in `[0, 1]`, and the attributes `layer` and `phase`
    /// as `paint` says.
    pub(super) fn mesh(
        &self,
        place: impl Fn(DVec3) -> DVec3,
        paint: impl Fn(DVec3) -> [f64; 2],
    ) -> TetMesh {
        let n = self.vertices;
        let cells = UVec3::new(n.x - 1, if self.ring { n.y } else { n.y - 1 }, n.z - 1);
        let mut positions = Vec::with_capacity((n.x * n.y * n.z) as usize);
        let (mut layer, mut phase) = (Vec::new(), Vec::new());
        for k in 0..n.z {
            for j in 0..n.y {
                for i in 0..n.x {
                    let at = UVec3::new(i, j, k).as_dvec3() / cells.as_dvec3();
                    positions.push(place(at).as_vec3());
                    let [l, p] = paint(at);
                    layer.push(l as f32);
                    phase.push(p as f32);
                }
            }
        }
        let index = |c: UVec3| (c.z * n.y + c.y % n.y) * n.x + c.x;
        let mut tets = Vec::with_capacity(5 * (cells.x * cells.y * cells.z) as usize);
        for k in 0..cells.z {
            for j in 0..cells.y {
                for i in 0..cells.x {
                    tets.extend(cut(UVec3::new(i, j, k)).map(|tet| tet.map(index)));
                }
            }
        }
        let mut mesh = TetMesh::new(positions, tets);
        mesh.attributes.set("layer", Values::Scalar(layer));
        mesh.attributes.set("phase", Values::Scalar(phase));
        mesh.orient();
        mesh
    }
}

/// The five tets of the cube at a place of the grid.
fn cut(at: UVec3) -> [[UVec3; 4]; 5] {
    const EVEN: [[u32; 4]; 5] =
        [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];
    let odd = (at.x + at.y + at.z) % 2;
    EVEN.map(|tet| {
        tet.map(|corner| {
            let corner = corner ^ odd;
            at + UVec3::new(corner & 1, corner >> 1 & 1, corner >> 2)
        })
    })
}

/// How round a disc is: entirely round, the corners of the square would become straight angles and their tets flat.
const ROUNDNESS: f64 = 0.92;

/// A square `[−1, 1]²` nearly onto the disc of radius 1, its grid lines kept smooth.
pub(super) fn disc(x: f64, y: f64) -> (f64, f64) {
    let share = |along: f64, across: f64| {
        along * (1.0 - ROUNDNESS * (1.0 - (1.0 - 0.5 * across * across).sqrt()))
    };
    (share(x, y), share(y, x))
}
