//! Writing VTK XML: raw appended data, 64-bit headers, little-endian. Meshes are written by [`vtp`](crate::io::vtp).

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::dataset::{Array, Centering, Dataset, Grid};

/// Bytes of one array, to be appended.
enum Bytes {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I64(Vec<i64>),
    U8(Vec<u8>),
}

impl Bytes {
    fn kind(&self) -> &'static str {
        match self {
            Self::F32(_) => "Float32",
            Self::F64(_) => "Float64",
            Self::I64(_) => "Int64",
            Self::U8(_) => "UInt8",
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::F32(v) => 4 * v.len(),
            Self::F64(v) => 8 * v.len(),
            Self::I64(v) => 8 * v.len(),
            Self::U8(v) => v.len(),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&(self.size() as u64).to_le_bytes())?;
        match self {
            Self::F32(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
            Self::F64(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
            Self::I64(v) => v.iter().try_for_each(|x| out.write_all(&x.to_le_bytes())),
            Self::U8(v) => out.write_all(v),
        }
    }
}

/// The text of a file, and what is appended to it.
#[derive(Default)]
struct Writer {
    text: String,
    appended: Vec<Bytes>,
    offset: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn array(&mut self, name: &str, components: usize, bytes: Bytes) {
        let (kind, offset) = (bytes.kind(), self.offset);
        let name = escaped(name);
        // Writing to a string does not fail.
        let _ = writeln!(
            self.text,
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\"/>"
        );
        self.offset += 8 + bytes.size();
        self.appended.push(bytes);
    }

    fn time(&mut self, time: Option<f64>) {
        if let Some(time) = time {
            let array = "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">";
            self.line(&format!("<FieldData>{array}{time}</DataArray></FieldData>"));
        }
    }

    fn arrays(&mut self, arrays: &[Array]) {
        for (element, centering) in [("PointData", Centering::Point), ("CellData", Centering::Cell)]
        {
            self.line(&format!("<{element}>"));
            for array in arrays.iter().filter(|a| a.info.centering == centering) {
                let values = Bytes::F32(array.values.clone());
                self.array(&array.info.name, array.info.components, values);
            }
            self.line(&format!("</{element}>"));
        }
    }

    fn finish(self, kind: &str, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(
            out,
            "<VTKFile type=\"{kind}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
        )?;
        out.write_all(self.text.as_bytes())?;
        out.write_all(b"<AppendedData encoding=\"raw\">\n_")?;
        for bytes in &self.appended {
            bytes.write(out)?;
        }
        out.write_all(b"\n</AppendedData>\n</VTKFile>\n")
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Writes a dataset: `.vti`, `.vtr`, `.vts` or `.vtu`, as its grid is (see [`ending`]).
///
/// # Errors
///
/// Whatever the writer reports.
pub fn write(dataset: &Dataset, out: &mut impl Write) -> io::Result<()> {
    let mut writer = Writer::default();
    let extent = |dims: [usize; 3]| {
        let [i, j, k] = dims.map(|n| n.saturating_sub(1));
        format!("0 {i} 0 {j} 0 {k}")
    };
    let kind = match &*dataset.grid {
        Grid::Uniform { dims, origin: [x, y, z], spacing: [a, b, c] } => {
            let e = extent(*dims);
            writer.line(&format!(
                "<ImageData WholeExtent=\"{e}\" Origin=\"{x} {y} {z}\" Spacing=\"{a} {b} {c}\">"
            ));
            writer.time(dataset.time);
            writer.line(&format!("<Piece Extent=\"{e}\">"));
            "ImageData"
        }
        Grid::Rectilinear { x, y, z } => {
            let e = extent([x.len(), y.len(), z.len()]);
            writer.line(&format!("<RectilinearGrid WholeExtent=\"{e}\">"));
            writer.time(dataset.time);
            writer.line(&format!("<Piece Extent=\"{e}\">\n<Coordinates>"));
            for (name, axis) in [("x", x), ("y", y), ("z", z)] {
                writer.array(name, 1, Bytes::F64(axis.clone()));
            }
            writer.line("</Coordinates>");
            "RectilinearGrid"
        }
        Grid::Curvilinear { dims, points } => {
            let e = extent(*dims);
            writer.line(&format!("<StructuredGrid WholeExtent=\"{e}\">"));
            writer.time(dataset.time);
            writer.line(&format!("<Piece Extent=\"{e}\">\n<Points>"));
            writer.array(
                "Points",
                3,
                Bytes::F64(points.iter().flat_map(|p| p.to_array()).collect()),
            );
            writer.line("</Points>");
            "StructuredGrid"
        }
        Grid::Unstructured { points, .. } => {
            writer.line("<UnstructuredGrid>");
            writer.time(dataset.time);
            let (p, c) = (points.len(), dataset.grid.cell_count());
            writer.line(&format!("<Piece NumberOfPoints=\"{p}\" NumberOfCells=\"{c}\">\n<Points>"));
            writer.array(
                "Points",
                3,
                Bytes::F64(points.iter().flat_map(|p| p.to_array()).collect()),
            );
            writer.line("</Points>");
            cells(&mut writer, &dataset.grid);
            "UnstructuredGrid"
        }
    };
    writer.arrays(&dataset.arrays);
    writer.line(&format!("</Piece>\n</{kind}>"));
    writer.finish(kind, out)
}

fn cells(writer: &mut Writer, grid: &Grid) {
    let Grid::Unstructured { cells, .. } = grid else { return };
    let wide = |values: &[u32]| values.iter().map(|&x| i64::from(x)).collect::<Vec<i64>>();
    writer.line("<Cells>");
    writer.array("connectivity", 1, Bytes::I64(wide(&cells.corners)));
    writer.array("offsets", 1, Bytes::I64(wide(cells.offsets.get(1..).unwrap_or_default())));
    writer.array("types", 1, Bytes::U8(cells.types.iter().map(|&t| t as u8).collect()));
    if !cells.faces.cell.is_empty() {
        let (mut stream, mut ends) = (Vec::new(), Vec::new());
        for cell in 0..cells.len() {
            let faces: Vec<&[u32]> = cells.faces(cell).collect();
            if faces.is_empty() {
                ends.push(-1);
                continue;
            }
            stream.push(faces.len() as i64);
            for face in faces {
                stream.push(face.len() as i64);
                stream.extend(wide(face));
            }
            ends.push(stream.len() as i64);
        }
        writer.array("faces", 1, Bytes::I64(stream));
        writer.array("faceoffsets", 1, Bytes::I64(ends));
    }
    writer.line("</Cells>");
}

/// The ending that files of a grid have.
#[must_use]
pub fn ending(grid: &Grid) -> &'static str {
    match grid {
        Grid::Uniform { .. } => "vti",
        Grid::Rectilinear { .. } => "vtr",
        Grid::Curvilinear { .. } => "vts",
        Grid::Unstructured { .. } => "vtu",
    }
}
