//! Skinning: moving a mesh by the joints its vertices are bound to.
//!
//! # Method
//!
//! *Linear blend*: `x' = Σ w_j M_j x` (6.4), normals by the cofactors of `Σ w_j M_j`.
//!
//! *Dual quaternion*: every matrix is split into a stretch and a rigid motion, `M_j x = R_j (S_j x) + t_j`
//! (polar decomposition). The stretches are blended linearly and applied first; the rigid motions are
//! blended as dual quaternions, so that a twisted limb keeps its radius.
//!
//! # Where we differ from the papers
//!
//! Kavan et al. leave scale to a phase of its own, as here, but do not say how to take it out of a
//! matrix: we use the polar factor, which turns the axes least, so that a non-uniformly scaled or
//! sheared joint still moves its own vertices exactly as its matrix does. A mirrored joint keeps its
//! mirror in the stretch. Quaternions are brought to the side of the influence with the largest weight.
//!
//! Weights need not add up to one: the blend is divided by their sum. A vertex with one influence
//! moves by exactly that matrix, one with none stays where it is.
//!
//! # Limits
//!
//! Linear blends lose volume where joints twist or bend; dual quaternions bulge at bends. Two joints
//! turned by 180° against each other have no unique dual-quaternion blend.
//!
//! # References
//!
//! - N. Magnenat-Thalmann, R. Laperrière, D. Thalmann. Joint-Dependent Local Deformations for Hand
//!   Animation and Object Grasping. Graphics Interface, 1988.
//! - L. Kavan, S. Collins, J. Žára, C. O'Sullivan. Geometric Skinning with Approximate Dual Quaternion
//!   Blending. ACM Transactions on Graphics 27(4), 2008.
//!
//! # Example
//!
//! ```
//! use glam::{Mat4, Vec3};
//! use supple::Run;
//! use supple::mesh::SkinWeights;
//! use supple::rig::{Palette, Skinning};
//!
//! let mut weights = SkinWeights::default();
//! weights.push([(0, 0.5), (1, 0.5)]);
//! let matrices = [Mat4::IDENTITY, Mat4::from_translation(Vec3::X)];
//! let palette = Palette::new(&matrices, Skinning::Linear);
//! let moved = palette.positions(&[Vec3::Y], &weights, &Run::default());
//! assert_eq!(moved, [Vec3::new(0.5, 1.0, 0.0)]);
//! ```

use glam::{DMat3, DQuat, Mat3, Mat4, Quat, Vec3};
use pulp::{Simd, WithSimd};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Run;
use crate::lengths::Lengths as _;
use crate::mesh::SkinWeights;

/// Vertices that are blended in one task.
const TASK: usize = 512;

/// Binds a mesh to nodes: the joint indices of its skin weights index `joints`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// Name in the file, or empty.
    pub name: String,
    /// Node of each joint.
    pub joints: Vec<u32>,
    /// From the mesh's space to each joint's at bind time; as many as joints.
    pub inverse_bind: Vec<Mat4>,
    /// The node named as the skeleton's root, if the file names one.
    pub root: Option<u32>,
}

/// How the motions of several joints are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Skinning {
    /// The mean of the matrices: what most programs do; loses volume in twists.
    #[default]
    Linear,
    /// The mean of the rigid motions: twists keep their radius.
    DualQuaternion,
}

/// The joints' motions from bind to pose, ready to be blended.
#[derive(Clone, Debug)]
pub struct Palette {
    matrices: Vec<Mat4>,
    /// The split of each matrix; empty for linear blends.
    motions: Vec<BoneTransform>,
}

/// `x ↦ R (S x) + t`.
#[derive(Clone, Copy, Debug)]
struct BoneTransform {
    stretch: Mat3,
    real: Quat,
    dual: Quat,
}

impl Palette {
    /// Prepares matrices that take vertices from where they were bound to where they are posed.
    #[must_use]
    pub fn new(matrices: &[Mat4], skinning: Skinning) -> Self {
        let motions = match skinning {
            Skinning::Linear => Vec::new(),
            Skinning::DualQuaternion => matrices.iter().map(BoneTransform::new).collect(),
        };
        Self { matrices: matrices.to_vec(), motions }
    }

    /// Where the vertices go.
    ///
    /// # Panics
    ///
    /// If there are not as many weights as vertices, or one names a joint beyond the palette.
    #[must_use]
    pub fn positions(&self, rest: &[Vec3], weights: &SkinWeights, run: &Run<'_>) -> Vec<Vec3> {
        assert_eq!(rest.len(), weights.len(), "weights for every vertex");
        if !self.motions.is_empty() {
            return run.map(rest.len(), |i| self.blend(weights, i).point(rest[i]));
        }
        let arch = pulp::Arch::new();
        let matrices = bytemuck::cast_slice(&self.matrices);
        let mut moved = vec![Vec3::ZERO; rest.len()];
        run.for_each_piece(&mut moved, TASK, |start, moved| {
            arch.dispatch(Linear { matrices, weights, rest, start, moved });
        });
        moved
    }

    /// Where the unit normals of the vertices point; zero stays zero.
    ///
    /// # Panics
    ///
    /// As [`positions`](Self::positions).
    #[must_use]
    pub fn normals(&self, rest: &[Vec3], weights: &SkinWeights, run: &Run<'_>) -> Vec<Vec3> {
        assert_eq!(rest.len(), weights.len(), "weights for every vertex");
        run.map(rest.len(), |i| self.blend(weights, i).normal(rest[i]))
    }

    /// Where one unit normal at a vertex points.
    #[must_use]
    pub fn normal_at(&self, vertex: usize, normal: Vec3, weights: &SkinWeights) -> Vec3 {
        self.blend(weights, vertex).normal(normal)
    }

    fn blend(&self, weights: &SkinWeights, vertex: usize) -> Blend {
        let mut row = weights.of(vertex);
        if row.len() == 1 {
            let only = row.next().map_or(0, |(joint, _)| joint);
            return Blend::Affine(self.matrices[usize::from(only)]);
        }
        let total: f32 = weights.of(vertex).map(|(_, w)| w).sum();
        if total == 0.0 || !total.is_finite() {
            return Blend::Affine(Mat4::IDENTITY);
        }
        if self.motions.is_empty() {
            let sum = row.fold(Mat4::ZERO, |sum, (joint, w)| {
                sum + self.matrices[usize::from(joint)] * (w / total)
            });
            return Blend::Affine(sum);
        }
        self.blend_motions(weights, vertex, total)
    }

    fn blend_motions(&self, weights: &SkinWeights, vertex: usize, total: f32) -> Blend {
        let mut largest = (0, f32::NEG_INFINITY);
        for (joint, w) in weights.of(vertex) {
            if w > largest.1 {
                largest = (joint, w);
            }
        }
        let side = self.motions[usize::from(largest.0)].real;
        let zero = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let (mut stretch, mut real, mut dual) = (Mat3::ZERO, zero, zero);
        for (joint, w) in weights.of(vertex) {
            let motion = &self.motions[usize::from(joint)];
            let share = w / total;
            stretch += motion.stretch * share;
            let share = if motion.real.dot(side) < 0.0 { -share } else { share };
            real += motion.real * share;
            dual += motion.dual * share;
        }
        let length = real.norm();
        if length == 0.0 {
            return Blend::Affine(self.matrices[usize::from(largest.0)]);
        }
        let (real, dual) = (real * length.recip(), dual * length.recip());
        // t = 2 dual real*; the part of `dual` along `real` drops out.
        let moved = dual * real.conjugate() * 2.0;
        let translation = Vec3::new(moved.x, moved.y, moved.z);
        Blend::Rigid { stretch, rotation: real, translation }
    }
}

/// The linear blend of some vertices.
struct Linear<'a> {
    matrices: &'a [Columns],
    weights: &'a SkinWeights,
    rest: &'a [Vec3],
    /// The number of the first vertex.
    start: usize,
    moved: &'a mut [Vec3],
}

/// The four columns of a matrix, one after the other: blended at once, in one or two registers.
type Columns = [f32; 16];

impl WithSimd for Linear<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (vertex, moved) in (self.start..).zip(self.moved) {
            *moved = blended(self.matrices, self.weights.row(vertex), self.rest[vertex]);
        }
    }
}

/// Where the mean of its joints carries a point.
#[inline(always)]
fn blended(matrices: &[Columns], (joints, weights): (&[u16], &[f32]), x: Vec3) -> Vec3 {
    if let [only] = joints {
        return carried(&matrices[usize::from(*only)], x);
    }
    let (mut sum, mut total) = ([0.0; 16], 0.0);
    for (&joint, &weight) in joints.iter().zip(weights) {
        let matrix = &matrices[usize::from(joint)];
        for i in 0..16 {
            sum[i] += weight * matrix[i];
        }
        total += weight;
    }
    // Of weights that add up to nothing, to less than can be divided by, or to no number there is no mean.
    let share = total.recip();
    if share.is_finite() && share != 0.0 { carried(&sum, x) * share } else { x }
}

#[inline(always)]
fn carried(m: &Columns, x: Vec3) -> Vec3 {
    let mut y = [0.0; 3];
    for i in 0..3 {
        y[i] = m[i] * x.x + m[4 + i] * x.y + m[8 + i] * x.z + m[12 + i];
    }
    Vec3::from_array(y)
}

enum Blend {
    Affine(Mat4),
    Rigid { stretch: Mat3, rotation: Quat, translation: Vec3 },
}

impl Blend {
    fn point(&self, x: Vec3) -> Vec3 {
        match self {
            Self::Affine(matrix) => matrix.transform_point3(x),
            Self::Rigid { stretch, rotation, translation } => {
                *rotation * (*stretch * x) + *translation
            }
        }
    }

    fn normal(&self, n: Vec3) -> Vec3 {
        match self {
            Self::Affine(matrix) => (cofactors(&Mat3::from_mat4(*matrix)) * n).unit_or_zero(),
            Self::Rigid { stretch, rotation, .. } => {
                (*rotation * (cofactors(stretch) * n)).unit_or_zero()
            }
        }
    }
}

/// `det(M) M⁻ᵀ`, which exists for singular matrices too: how area vectors go through `M`.
fn cofactors(m: &Mat3) -> Mat3 {
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    Mat3::from_cols(y.cross(z), z.cross(x), x.cross(y))
}

impl BoneTransform {
    fn new(matrix: &Mat4) -> Self {
        let linear = Mat3::from_mat4(*matrix).as_dmat3();
        let rotation = nearest_rotation(&linear);
        let stretch = (DMat3::from_quat(rotation.conjugate()) * linear).as_mat3();
        let t = matrix.w_axis.truncate();
        let real = rotation.as_quat();
        let dual = Quat::from_xyzw(t.x, t.y, t.z, 0.0) * real * 0.5;
        Self { stretch, real, dual }
    }
}

/// The rotation of the polar decomposition `M = R S`, by Higham's Newton iteration; for a mirroring
/// matrix the mirror stays in `S`. A singular matrix is nudged towards the identity.
pub(crate) fn nearest_rotation(m: &DMat3) -> DQuat {
    let size = m.to_cols_array().iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    if size == 0.0 || !size.is_finite() {
        return DQuat::IDENTITY;
    }
    let mut q = *m * size.recip();
    if q.determinant() < 0.0 {
        q *= -1.0;
    }
    if q.determinant() < 1e-12 {
        q += DMat3::IDENTITY * 1e-3;
    }
    for _ in 0..60 {
        let next = (q + q.inverse().transpose()) * 0.5;
        let change = (next - q).to_cols_array().iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        q = next;
        if !q.is_finite() {
            return DQuat::IDENTITY;
        }
        if change < 1e-15 {
            break;
        }
    }
    let rotation = DQuat::from_mat3(&q);
    if rotation.is_finite() && rotation.length_squared() > 0.0 {
        rotation.normalize()
    } else {
        DQuat::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOTH: [Skinning; 2] = [Skinning::Linear, Skinning::DualQuaternion];

    fn weights(rows: &[&[(u16, f32)]]) -> SkinWeights {
        let mut weights = SkinWeights::default();
        for row in rows {
            weights.push(row.iter().copied());
        }
        weights
    }

    fn move_one(matrices: &[Mat4], row: &[(u16, f32)], x: Vec3, skinning: Skinning) -> Vec3 {
        Palette::new(matrices, skinning).positions(&[x], &weights(&[row]), &Run::default())[0]
    }

    #[test]
    fn a_twist_keeps_its_radius_with_dual_quaternions_only() {
        let twist = [Mat4::IDENTITY, Mat4::from_rotation_z(std::f32::consts::FRAC_PI_2 * 1.8)];
        let at = |s| move_one(&twist, &[(0, 0.5), (1, 0.5)], Vec3::X, s);
        let dual = at(Skinning::DualQuaternion);
        assert!((dual.length() - 1.0).abs() < 1e-6, "{dual}");
        let middle = Mat4::from_rotation_z(std::f32::consts::FRAC_PI_2 * 0.9);
        assert!(dual.abs_diff_eq(middle.transform_point3(Vec3::X), 1e-6), "half the turn: {dual}");
        assert!(at(Skinning::Linear).length() < 0.2, "the candy wrapper");
    }

    #[test]
    fn opposite_quaternions_do_not_cancel() {
        let a = Mat4::from_rotation_y(3.0);
        let b = Mat4::from_rotation_y(3.4);
        let moved = move_one(&[a, b], &[(0, 0.5), (1, 0.5)], Vec3::X, Skinning::DualQuaternion);
        let expected = Mat4::from_rotation_y(3.2).transform_point3(Vec3::X);
        assert!(moved.abs_diff_eq(expected, 1e-5), "{moved} is not {expected}");
    }

    #[test]
    fn a_vertex_without_weights_stays() {
        let away = [Mat4::from_translation(Vec3::ONE)];
        for skinning in BOTH {
            assert_eq!(move_one(&away, &[], Vec3::X, skinning), Vec3::X);
        }
    }

    #[test]
    fn weights_that_cannot_be_divided_by_do_no_harm() {
        let away = [Mat4::from_translation(Vec3::ONE), Mat4::from_rotation_x(1.0)];
        for weight in [1e-40, -1e-45, f32::MAX, f32::INFINITY, f32::NAN] {
            let row = [(0, weight), (1, weight)];
            assert_eq!(move_one(&away, &row, Vec3::X, Skinning::Linear), Vec3::X, "{weight}");
        }
    }

    #[test]
    fn normals_stay_perpendicular_under_scale() {
        let squash = Mat4::from_scale(Vec3::new(1.0, 4.0, 1.0));
        let row = weights(&[&[(0, 0.5), (1, 0.5)]]);
        let normal = Vec3::new(1.0, 1.0, 0.0).normalize_or_zero();
        for skinning in BOTH {
            let palette = Palette::new(&[squash, squash], skinning);
            let n = palette.normals(&[normal], &row, &Run::default())[0];
            let tangent = squash.transform_vector3(Vec3::new(1.0, -1.0, 0.0));
            assert!(n.dot(tangent).abs() < 1e-6, "{skinning:?}: {n}");
            assert!((n.length() - 1.0).abs() < 1e-6, "unit");
        }
    }

    #[test]
    fn same_bits_for_any_thread_count() {
        let matrices: Vec<Mat4> = (0..4).map(|i| Mat4::from_rotation_x(i as f32)).collect();
        let rest: Vec<Vec3> = (0..5000).map(|i| Vec3::new(i as f32, 1.0, 0.1)).collect();
        let mut rows = SkinWeights::default();
        for i in 0..5000_u16 {
            rows.push([(i % 4, 0.25), ((i + 1) % 4, 0.5), ((i + 2) % 4, 0.25)]);
        }
        for skinning in BOTH {
            let palette = Palette::new(&matrices, skinning);
            let serial = palette.positions(&rest, &rows, &Run::default());
            for threads in [2, 8] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let run = Run { threads: Some(&pool), ..Run::default() };
                assert_eq!(palette.positions(&rest, &rows, &run), serial, "{threads} threads");
            }
        }
    }

    fn vector() -> impl Strategy<Value = Vec3> {
        (-3.0_f32..3.0, -3.0_f32..3.0, -3.0_f32..3.0).prop_map(Vec3::from)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: proptest::test_runner::RngSeed::Fixed(7), cases: 200, failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// If all joints move alike, so does everything bound to them, sheared and mirrored or not.
        #[test]
        fn joints_that_move_alike_move_all(
            x in vector(), t in vector(), scale in vector(), angle in vector(),
        ) {
            let turn = Quat::from_scaled_axis(angle);
            let shear = Mat4::from_quat(turn.inverse()) * Mat4::from_rotation_x(0.7);
            let matrix = Mat4::from_scale_rotation_translation(scale, turn, t) * shear;
            let expected = matrix.transform_point3(x);
            for skinning in BOTH {
                let row = [(0, 0.3), (1, 0.3), (2, 0.1), (3, 0.2), (4, 0.1)];
                let moved = move_one(&[matrix; 5], &row, x, skinning);
                prop_assert!(moved.abs_diff_eq(expected, 1e-4), "{skinning:?}: {moved}, {expected}");
            }
        }

        /// Turning and moving everything turns and moves the result.
        #[test]
        fn rigid_motion_of_the_rig_carries_the_skin(
            x in vector(), t in vector(), a in vector(), b in vector(), world in vector(),
        ) {
            let rigid = Mat4::from_rotation_translation(Quat::from_scaled_axis(world), t);
            let joints = [a, b].map(|v| {
                Mat4::from_rotation_translation(Quat::from_scaled_axis(0.4 * v), v)
            });
            for skinning in BOTH {
                let row = [(0, 0.7), (1, 0.3)];
                let inside = move_one(&joints, &row, x, skinning);
                let outside = move_one(&joints.map(|j| rigid * j), &row, x, skinning);
                let expected = rigid.transform_point3(inside);
                prop_assert!(outside.abs_diff_eq(expected, 1e-4), "{skinning:?}");
            }
        }
    }
}
