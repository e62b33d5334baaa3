//! Where a lattice has land: cells of it, and faces that nothing crosses.

/// Which cells of a lattice are land, and which of their faces nothing crosses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coast {
    /// One number a cell, x fastest.
    cells: Vec<u8>,
}

impl Coast {
    /// The face where ξ is 0 is a wall.
    pub const WEST: u8 = 1;
    /// The face where ξ is 1.
    pub const EAST: u8 = 2;
    /// The face where η is 0.
    pub const SOUTH: u8 = 4;
    /// The face where η is 1.
    pub const NORTH: u8 = 8;
    /// The cell is land.
    pub const LAND: u8 = 16;

    /// Walls and land of each cell.
    #[must_use]
    pub fn new(cells: Vec<u8>) -> Self {
        Self { cells }
    }

    /// The first of some equal layers, as often.
    #[must_use]
    pub fn repeated(&self, a_layer: usize, layers: usize) -> Self {
        let first = &self.cells[..a_layer.min(self.cells.len())];
        Self { cells: first.repeat(layers) }
    }

    /// How many cells there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Without any cell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Walls and land of a cell.
    pub(crate) fn bits(&self, cell: usize) -> u8 {
        self.cells[cell]
    }

    /// Whether a cell is land.
    #[must_use]
    pub fn is_land(&self, cell: usize) -> bool {
        self.cells.get(cell).is_some_and(|bits| bits & Self::LAND != 0)
    }
}
