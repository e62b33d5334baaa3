//! Cells of unstructured grids: VTK's linear types and polyhedra.

/// What a cell is: the linear types of VTK, under VTK's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names of VTK say it")]
pub enum CellType {
    Empty = 0,
    Vertex = 1,
    PolyVertex = 2,
    Line = 3,
    PolyLine = 4,
    Triangle = 5,
    TriangleStrip = 6,
    Polygon = 7,
    Pixel = 8,
    Quad = 9,
    Tetra = 10,
    Voxel = 11,
    Hexahedron = 12,
    Wedge = 13,
    Pyramid = 14,
    PentagonalPrism = 15,
    HexagonalPrism = 16,
    Polyhedron = 42,
}

impl CellType {
    /// The linear type of VTK's number, how many corners of it count (`None`: all), and whether that leaves
    /// points of a cell of higher order out. `None` for numbers that are no cell.
    #[must_use]
    pub fn from_vtk(code: u8) -> Option<(Self, Option<usize>, bool)> {
        let linear = |kind, corners| Some((kind, corners, false));
        let curved = |kind, corners| Some((kind, Some(corners), true));
        match code {
            0 => linear(Self::Empty, Some(0)),
            1 => linear(Self::Vertex, Some(1)),
            2 => linear(Self::PolyVertex, None),
            3 => linear(Self::Line, Some(2)),
            4 => linear(Self::PolyLine, None),
            5 => linear(Self::Triangle, Some(3)),
            6 => linear(Self::TriangleStrip, None),
            7 => linear(Self::Polygon, None),
            8 => linear(Self::Pixel, Some(4)),
            9 => linear(Self::Quad, Some(4)),
            10 => linear(Self::Tetra, Some(4)),
            11 => linear(Self::Voxel, Some(8)),
            12 => linear(Self::Hexahedron, Some(8)),
            13 => linear(Self::Wedge, Some(6)),
            14 => linear(Self::Pyramid, Some(5)),
            15 => linear(Self::PentagonalPrism, Some(10)),
            16 => linear(Self::HexagonalPrism, Some(12)),
            42 => linear(Self::Polyhedron, None),
            // Quadratic, cubic, Lagrange and Bézier cells list their corners first.
            21 | 35 | 68 | 75 => curved(Self::Line, 2),
            22 | 34 | 69 | 76 => curved(Self::Triangle, 3),
            23 | 28 | 30 | 70 | 77 => curved(Self::Quad, 4),
            24 | 71 | 78 => curved(Self::Tetra, 4),
            25 | 29 | 33 | 72 | 79 => curved(Self::Hexahedron, 8),
            26 | 31 | 32 | 73 | 80 => curved(Self::Wedge, 6),
            27 | 37 | 74 | 81 => curved(Self::Pyramid, 5),
            _ => None,
        }
    }

    /// 3 for solids, 2 for faces, 1 for lines, 0 for points.
    #[must_use]
    pub fn dimension(self) -> usize {
        match self {
            Self::Empty | Self::Vertex | Self::PolyVertex => 0,
            Self::Line | Self::PolyLine => 1,
            Self::Triangle | Self::TriangleStrip | Self::Polygon | Self::Pixel | Self::Quad => 2,
            _ => 3,
        }
    }
}

/// The cells of an unstructured grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// What each is.
    pub types: Vec<CellType>,
    /// Where the corners of each begin in `corners`, and where the last end: one more than cells.
    pub offsets: Vec<u32>,
    /// The points, cell by cell.
    pub corners: Vec<u32>,
    /// The faces of polyhedra; empty if there is none.
    pub faces: Faces,
}

/// Faces of polyhedra. Cell `c` has the faces `cell[c]..cell[c + 1]`; none for other cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    /// Where the faces of each cell begin, and where the last end; empty without polyhedra.
    pub cell: Vec<u32>,
    /// Where the points of each face begin in `points`, and where the last end.
    pub offsets: Vec<u32>,
    /// The points, face by face.
    pub points: Vec<u32>,
}

impl Cells {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// True without cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The points of a cell.
    #[must_use]
    pub fn corners(&self, cell: usize) -> &[u32] {
        &self.corners[self.offsets[cell] as usize..self.offsets[cell + 1] as usize]
    }

    /// The faces of a polyhedron, each by its points.
    pub fn faces(&self, cell: usize) -> impl Iterator<Item = &[u32]> {
        let faces = &self.faces;
        let range = match (faces.cell.get(cell), faces.cell.get(cell + 1)) {
            (Some(&first), Some(&end)) => first as usize..end as usize,
            _ => 0..0,
        };
        range.map(|f| &faces.points[faces.offsets[f] as usize..faces.offsets[f + 1] as usize])
    }

    /// Adds a cell, with its faces if it is a polyhedron.
    pub fn push(&mut self, kind: CellType, corners: &[u32], faces: &[&[u32]]) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        if !faces.is_empty() && self.faces.cell.is_empty() {
            self.faces.cell = vec![0; self.types.len() + 1];
            self.faces.offsets = vec![0];
        }
        self.types.push(kind);
        self.corners.extend_from_slice(corners);
        self.offsets.push(self.corners.len() as u32);
        for face in faces {
            self.faces.points.extend_from_slice(face);
            self.faces.offsets.push(self.faces.points.len() as u32);
        }
        if !self.faces.cell.is_empty() {
            self.faces.cell.push(self.faces.offsets.len() as u32 - 1);
        }
    }

    /// Adds the cells of another grid, whose points begin at `first`.
    pub fn append(&mut self, other: &Self, first: u32) {
        let shifted = |points: &[u32]| points.iter().map(|p| p + first).collect::<Vec<u32>>();
        for cell in 0..other.len() {
            let faces: Vec<Vec<u32>> = other.faces(cell).map(shifted).collect();
            let faces: Vec<&[u32]> = faces.iter().map(Vec::as_slice).collect();
            self.push(other.types[cell], &shifted(other.corners(cell)), &faces);
        }
    }

    /// The largest dimension among the cells: 3 for solids, 2 for faces; 0 without cells.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.types.iter().map(|t| t.dimension()).max().unwrap_or(0)
    }
}

/// What is wrong with a list of cells.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CellError {
    /// A number that is no cell.
    #[error("cell {cell} has the type {code}, which is not known")]
    Type {
        /// Which cell.
        cell: usize,
        /// Its type.
        code: i64,
    },
    /// Cells overlap or end beyond their list.
    #[error("the corners of cell {cell} are not in the list of corners")]
    Offsets {
        /// Which cell.
        cell: usize,
    },
    /// Fewer points than its type has corners.
    #[error("cell {cell} of type {code} has {found} points")]
    Corners {
        /// Which cell.
        cell: usize,
        /// Its type.
        code: i64,
        /// How many points it has.
        found: usize,
    },
    /// A point that is not there.
    #[error("a cell names point {point}, but there are {points}")]
    Point {
        /// The point named.
        point: i64,
        /// How many there are.
        points: usize,
    },
    /// Faces of a polyhedron that make no sense.
    #[error("the faces of cell {cell} make no sense")]
    Faces {
        /// Which cell.
        cell: usize,
    },
}

/// Makes cells of VTK's arrays, and checks them.
#[derive(Clone, Debug)]
pub struct CellBuilder {
    points: usize,
    /// What was made.
    pub cells: Cells,
    curved: usize,
}

impl CellBuilder {
    /// For a grid of so many points.
    #[must_use]
    pub fn new(points: usize) -> Self {
        Self { points, cells: Cells { offsets: vec![0], ..Cells::default() }, curved: 0 }
    }

    /// Adds cells: their types, where each ends in `corners`, and the faces of polyhedra by cell.
    ///
    /// # Errors
    ///
    /// [`CellError`] for the first that makes no sense.
    pub fn add(
        &mut self,
        types: &[i64],
        ends: &[i64],
        corners: &[i64],
        faces: &[Vec<Vec<i64>>],
    ) -> Result<(), CellError> {
        for (cell, (&code, own)) in types.iter().zip(by_cell(ends, corners)).enumerate() {
            let own = own.ok_or(CellError::Offsets { cell })?;
            self.push(cell, code, own, faces.get(cell).map_or(&[], Vec::as_slice))?;
        }
        Ok(())
    }

    /// As [`add`](Self::add), for lists in which the corners of a polyhedron are its faces: how many, and for
    /// each its number of points and the points.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn add_stream(
        &mut self,
        types: &[i64],
        ends: &[i64],
        corners: &[i64],
    ) -> Result<(), CellError> {
        for (cell, (&code, own)) in types.iter().zip(by_cell(ends, corners)).enumerate() {
            let own = own.ok_or(CellError::Offsets { cell })?;
            if code == 42 {
                let faces = faces_of_stream(own).ok_or(CellError::Faces { cell })?;
                let mut points: Vec<i64> = faces.iter().flatten().copied().collect();
                points.sort_unstable();
                points.dedup();
                self.push(cell, code, &points, &faces)?;
            } else {
                self.push(cell, code, own, &[])?;
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        cell: usize,
        code: i64,
        corners: &[i64],
        faces: &[Vec<i64>],
    ) -> Result<(), CellError> {
        let found = u8::try_from(code).ok().and_then(CellType::from_vtk);
        let (kind, count, curved) = found.ok_or(CellError::Type { cell, code })?;
        let used = corners.get(..count.unwrap_or(corners.len()));
        let used = used.ok_or(CellError::Corners { cell, code, found: corners.len() })?;
        if kind == CellType::Polyhedron && faces.is_empty() {
            return Err(CellError::Faces { cell });
        }
        self.curved += usize::from(curved);
        let checked = |points: &[i64]| points.iter().map(|&p| self.point(p)).collect();
        let corners: Vec<u32> = checked(used)?;
        let faces = faces.iter().map(|f| checked(f)).collect::<Result<Vec<Vec<u32>>, _>>()?;
        let faces: Vec<&[u32]> = faces.iter().map(Vec::as_slice).collect();
        self.cells.push(kind, &corners, &faces);
        Ok(())
    }

    fn point(&self, point: i64) -> Result<u32, CellError> {
        let index = u32::try_from(point).ok().filter(|&i| (i as usize) < self.points);
        index.ok_or(CellError::Point { point, points: self.points })
    }

    /// What is told of cells of higher order.
    #[must_use]
    pub fn said(&self) -> Option<String> {
        let n = self.curved;
        (n > 0).then(|| format!("cells of higher order are read by their corners: {n}"))
    }
}

/// The corners of each cell, by where it ends; `None` for one that ends before it begins or beyond the list.
fn by_cell<'a>(ends: &'a [i64], corners: &'a [i64]) -> impl Iterator<Item = Option<&'a [i64]>> {
    let mut first = 0;
    ends.iter().map(move |&end| {
        let own = usize::try_from(end).ok().and_then(|end| corners.get(first..end))?;
        first += own.len();
        Some(own)
    })
}

/// Faces from how many there are, and for each its number of points and the points.
pub(crate) fn faces_of_stream(stream: &[i64]) -> Option<Vec<Vec<i64>>> {
    let (&count, mut rest) = stream.split_first()?;
    let mut faces = Vec::new();
    for _ in 0..count {
        let (&n, after) = rest.split_first()?;
        let (face, after) = after.split_at_checked(usize::try_from(n).ok()?)?;
        faces.push(face.to_vec());
        rest = after;
    }
    Some(faces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_higher_order_keep_their_corners() {
        assert_eq!(CellType::from_vtk(24), Some((CellType::Tetra, Some(4), true)));
        assert_eq!(CellType::from_vtk(10), Some((CellType::Tetra, Some(4), false)));
        assert_eq!(CellType::from_vtk(99), None);
    }

    #[test]
    fn cells_and_faces_are_found_where_they_were_put() {
        let mut cells = Cells::default();
        cells.push(CellType::Triangle, &[0, 1, 2], &[]);
        let faces: [&[u32]; 4] = [&[0, 1, 2], &[0, 1, 3], &[1, 2, 3], &[0, 2, 3]];
        cells.push(CellType::Polyhedron, &[0, 1, 2, 3], &faces);
        let mut all = Cells::default();
        all.push(CellType::Line, &[0, 1], &[]);
        all.append(&cells, 10);
        assert_eq!(all.corners(1), [10, 11, 12]);
        assert_eq!(all.corners(2), [10, 11, 12, 13]);
        assert_eq!(all.faces(1).count(), 0);
        assert_eq!(all.faces(2).nth(3), Some(&[10, 12, 13][..]));
        assert_eq!(all.dimension(), 3);
    }
}
