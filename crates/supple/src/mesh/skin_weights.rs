//! Which joints move a vertex, and how much: any number of influences a vertex.

/// Skin weights in compressed rows: the influences of vertex `i` are entries
/// `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinWeights {
    offsets: Vec<u32>,
    joints: Vec<u16>,
    weights: Vec<f32>,
}

impl Default for SkinWeights {
    fn default() -> Self {
        Self { offsets: vec![0], joints: Vec::new(), weights: Vec::new() }
    }
}

impl SkinWeights {
    /// Appends the next vertex with its `(joint, weight)` pairs; zero weights are left out.
    pub fn push(&mut self, influences: impl IntoIterator<Item = (u16, f32)>) {
        for (joint, weight) in influences {
            if weight != 0.0 {
                self.joints.push(joint);
                self.weights.push(weight);
            }
        }
        self.offsets.push(self.joints.len() as u32);
    }

    /// How many vertices have been pushed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True if there is no vertex.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `(joint, weight)` pairs of one vertex.
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u16, f32)> + '_ {
        let (joints, weights) = self.row(vertex);
        joints.iter().copied().zip(weights.iter().copied())
    }

    /// The joints of one vertex and their weights.
    #[inline(always)]
    pub(crate) fn row(&self, vertex: usize) -> (&[u16], &[f32]) {
        let row = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        (&self.joints[row.clone()], &self.weights[row])
    }

    /// The largest number of influences any vertex has.
    #[must_use]
    pub fn max_influences(&self) -> usize {
        self.offsets.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }

    /// One more than the largest joint index used.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.joints.iter().max().map_or(0, |&j| usize::from(j) + 1)
    }

    /// The rows at `indices`, in that order.
    ///
    /// # Panics
    ///
    /// If an index is out of range.
    #[must_use]
    pub fn gather(&self, indices: &[u32]) -> Self {
        let mut gathered = Self::default();
        for &i in indices {
            gathered.push(self.of(i as usize));
        }
        gathered
    }
}
