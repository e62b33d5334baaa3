//! The vertices of a PLY file: positions and what travels with them.

use glam::Vec3;

use super::super::{Malformed, Place, Warning, color};
use super::body::Source;
use super::header::{Element, Kind};
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::{Attributes, Values};

/// Rows of colours read at a time; bounds the memory, not the result.
const BLOCK: usize = 256;

/// What the element `vertex` holds.
#[derive(Default)]
pub(super) struct Vertices {
    pub(super) positions: Vec<Vec3>,
    pub(super) attributes: Attributes,
}

impl Vertices {
    pub(super) fn read<S: Source>(
        element: &Element,
        source: &mut S,
        warnings: &mut Vec<Warning>,
    ) -> Result<Self, Malformed> {
        let mut columns = columns(element, warnings)?;
        if !read_columns(element, source, &mut columns)? {
            read_rows(element, source, &mut columns)?;
        }
        let mut vertices = Self::default();
        for column in columns {
            if column.inexact > 0 {
                let Column { name, inexact, .. } = &column;
                let what = format!("{inexact} whole numbers of '{name}' were rounded to 24 bits");
                warnings.push(Warning::new(Place::File, what));
            }
            match (column.role, column.values) {
                (Role::Position, Values::Vec3(positions)) => vertices.positions = positions,
                (_, values) => vertices.attributes.set(column.name, values),
            }
        }
        Ok(vertices)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Position,
    Color,
    Plain,
}

/// Properties that make one attribute, and its values.
struct Column {
    name: String,
    role: Role,
    properties: Vec<usize>,
    values: Values,
    /// Turns the numbers of a colour into linear ones.
    decoder: color::Decoder,
    /// What one is in a colour property: 255 for bytes.
    one: f64,
    /// The numbers of the row being read.
    row: [f64; 4],
    /// How many whole numbers were too large for an `f32`.
    inexact: usize,
}

impl Column {
    fn new(element: &Element, name: &str, role: Role, properties: Vec<usize>) -> Self {
        let rows = element.count as usize;
        let values = match properties.len() {
            _ if role == Role::Color => Values::Vec4(vec![glam::Vec4::ZERO; rows]),
            1 => Values::Scalar(vec![0.0; rows]),
            2 => Values::Vec2(vec![glam::Vec2::ZERO; rows]),
            3 => Values::Vec3(vec![Vec3::ZERO; rows]),
            _ => Values::Vec4(vec![glam::Vec4::ZERO; rows]),
        };
        let one = match element.properties[properties[0]].kind {
            Kind::U8 => 255.0,
            Kind::U16 => 65_535.0,
            _ => 1.0,
        };
        let (name, decoder) = (name.to_owned(), color::Decoder::new(one));
        // A colour without alpha is opaque.
        Self { name, role, properties, values, decoder, one, row: [one; 4], inexact: 0 }
    }

    /// Takes over the row that was read.
    fn finish_row(&mut self, row: usize) {
        if let (Role::Color, Values::Vec4(colors)) = (self.role, &mut self.values) {
            colors[row] = self.decoder.linear(self.row);
            return;
        }
        let width = self.properties.len();
        let slot = &mut self.values.as_floats_mut()[row * width..][..width];
        for (float, number) in slot.iter_mut().zip(self.row) {
            *float = number as f32;
        }
    }

    /// Reads the colours of all rows; `None` if the source cannot read by columns.
    fn read_colors<S: Source>(&mut self, element: &Element, source: &S) -> Option<()> {
        let Values::Vec4(colors) = &mut self.values else { return None };
        let mut coded = [[self.one; 4]; BLOCK];
        for (block, colors) in colors.chunks_mut(BLOCK).enumerate() {
            let rows = block * BLOCK..block * BLOCK + colors.len();
            for (component, &property) in self.properties.iter().enumerate() {
                let put = |k: usize, x: f64| coded[k][component] = x;
                source.column(element, property, rows.clone(), put)?;
            }
            for (color, &coded) in colors.iter_mut().zip(&coded) {
                *color = self.decoder.linear(coded);
            }
        }
        Some(())
    }

    /// Reads the numbers of all rows; `None` if the source cannot read by columns.
    fn read_numbers<S: Source>(&mut self, element: &Element, source: &S) -> Option<()> {
        let width = self.properties.len();
        let flat = self.values.as_floats_mut();
        if source.copy_floats(element, &self.properties, flat).is_some() {
            return Some(());
        }
        let mut inexact = 0;
        for (component, &property) in self.properties.iter().enumerate() {
            let whole = matches!(element.properties[property].kind, Kind::I32 | Kind::U32);
            source.column(element, property, 0..element.count as usize, |row, x| {
                flat[row * width + component] = x as f32;
                inexact += usize::from(whole && f64::from(x as f32) != x);
            })?;
        }
        self.inexact += inexact;
        Some(())
    }
}

/// Which properties make which attribute, in the order of the file.
fn columns(element: &Element, warnings: &mut Vec<Warning>) -> Result<Vec<Column>, Malformed> {
    const KNOWN: [(&str, Role, &[&str]); 8] = [
        ("position", Role::Position, &["x", "y", "z"]),
        (NORMAL, Role::Plain, &["nx", "ny", "nz"]),
        (UV, Role::Plain, &["s", "t"]),
        (UV, Role::Plain, &["u", "v"]),
        (UV, Role::Plain, &["texture_u", "texture_v"]),
        (COLOR, Role::Color, &["red", "green", "blue", "alpha"]),
        (COLOR, Role::Color, &["red", "green", "blue"]),
        (COLOR, Role::Color, &["diffuse_red", "diffuse_green", "diffuse_blue"]),
    ];
    let find =
        |name: &str| element.properties.iter().position(|p| p.name == name && p.list.is_none());
    let mut taken = vec![false; element.properties.len()];
    let mut columns: Vec<Column> = Vec::new();
    for (name, role, parts) in KNOWN {
        let found: Option<Vec<usize>> = parts.iter().map(|part| find(part)).collect();
        let Some(properties) = found else { continue };
        if columns.iter().all(|c| c.name != name) {
            properties.iter().for_each(|&p| taken[p] = true);
            columns.push(Column::new(element, name, role, properties));
        }
    }
    if element.count > 0 && columns.first().is_none_or(|c| c.role != Role::Position) {
        let fix = "vertices need the properties x, y and z";
        return Err(Malformed::new(Place::File, "the vertices have no position", fix));
    }
    for p in 0..taken.len() {
        if taken[p] {
            continue;
        }
        let property = &element.properties[p];
        if property.list.is_some() {
            let what = format!("the vertex list '{}' is left out", property.name);
            warnings.push(Warning::new(Place::File, what));
            continue;
        }
        let (name, properties) = vector_from(element, p);
        if columns.iter().all(|c| c.name != name) {
            properties.iter().for_each(|&q| taken[q] = true);
            columns.push(Column::new(element, name, Role::Plain, properties));
        }
    }
    columns.sort_by_key(|c| c.properties[0]);
    Ok(columns)
}

/// The attribute that starts with property `p`: `name_x name_y …` are the parts of `name`.
fn vector_from(element: &Element, p: usize) -> (&str, Vec<usize>) {
    let name = element.properties[p].name.as_str();
    if let Some(base) = name.strip_suffix("_x").filter(|b| !b.is_empty()) {
        let is_part = |&(k, suffix): &(usize, &str)| {
            let part = element.properties.get(p + k);
            part.is_some_and(|q| q.list.is_none() && q.name.strip_suffix(suffix) == Some(base))
        };
        let parts = [(1, "_y"), (2, "_z"), (3, "_w")];
        let more = parts.iter().take_while(|part| is_part(part)).count();
        if more > 0 {
            return (base, (p..=p + more).collect());
        }
    }
    (name, vec![p])
}

/// Reads all rows a property at a time, which is fast; false if the source cannot.
fn read_columns<S: Source>(
    element: &Element,
    source: &mut S,
    columns: &mut [Column],
) -> Result<bool, Malformed> {
    for column in columns.iter_mut() {
        let read = match column.role {
            Role::Color => column.read_colors(element, source),
            _ => column.read_numbers(element, source),
        };
        if read.is_none() {
            return Ok(false);
        }
        if column.role == Role::Position
            && let Values::Vec3(positions) = &column.values
            && let Some(row) = positions.iter().position(|p| !p.is_finite())
        {
            return Err(not_finite(row, source.place_of_row(element, row)));
        }
    }
    source.leave_rows(element);
    Ok(!columns.is_empty())
}

fn read_rows<S: Source>(
    element: &Element,
    source: &mut S,
    columns: &mut [Column],
) -> Result<(), Malformed> {
    let mut targets = vec![None; element.properties.len()];
    for (c, column) in columns.iter().enumerate() {
        for (component, &p) in column.properties.iter().enumerate() {
            targets[p] = Some((c, component));
        }
    }
    if targets.is_empty() {
        return Ok(());
    }
    for row in 0..element.count as usize {
        for (property, target) in element.properties.iter().zip(&targets) {
            let Some((c, component)) = *target else {
                source.skip(property)?;
                continue;
            };
            let number = source.number(property.kind)?;
            let column = &mut columns[c];
            if column.role == Role::Position && !(number as f32).is_finite() {
                return Err(not_finite(row, source.place()));
            }
            let whole = !property.kind.is_float();
            column.inexact += usize::from(whole && f64::from(number as f32) != number);
            column.row[component] = number;
        }
        columns.iter_mut().for_each(|column| column.finish_row(row));
    }
    Ok(())
}

fn not_finite(row: usize, place: Place) -> Malformed {
    let fix = "give it a place, or remove it with its faces";
    Malformed::new(place, format!("vertex {row} is not finite"), fix)
}
