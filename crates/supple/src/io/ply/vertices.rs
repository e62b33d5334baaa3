//! The vertices of a PLY file: positions and what travels with them.

use glam::Vec3;

use super::super::{Malformed, Place, Warning, color};
use super::body::Source;
use super::header::{Element, Kind};
use crate::mesh::attribute::{COLOR, NORMAL, UV};
use crate::mesh::{Attributes, Values};

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
                (Role::Color, _) => {
                    let colors = column.coded.into_iter().map(color::from_coded).collect();
                    vertices.attributes.set(column.name, Values::Vec4(colors));
                }
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
    /// The values of a colour, which are turned to linear ones when all are known.
    coded: Vec<[f64; 4]>,
    /// What one is in a colour property: 255 for bytes.
    one: f64,
    /// How many whole numbers were too large for an `f32`.
    inexact: usize,
}

impl Column {
    fn new(element: &Element, name: &str, role: Role, properties: Vec<usize>) -> Self {
        let rows = element.count as usize;
        let (plain, coded) = if role == Role::Color { (0, rows) } else { (rows, 0) };
        let values = match properties.len() {
            1 => Values::Scalar(vec![0.0; plain]),
            2 => Values::Vec2(vec![glam::Vec2::ZERO; plain]),
            3 => Values::Vec3(vec![Vec3::ZERO; plain]),
            _ => Values::Vec4(vec![glam::Vec4::ZERO; plain]),
        };
        let one = match element.properties[properties[0]].kind {
            Kind::U8 => 255.0,
            Kind::U16 => 65_535.0,
            _ => 1.0,
        };
        let coded = vec![[1.0; 4]; coded];
        Self { name: name.to_owned(), role, properties, values, coded, one, inexact: 0 }
    }

    fn put(&mut self, row: usize, component: usize, number: f64) {
        if self.role == Role::Color {
            self.coded[row][component] = number / self.one;
        } else {
            let width = self.properties.len();
            self.values.as_floats_mut()[row * width + component] = number as f32;
        }
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
        let width = column.properties.len();
        let copied = column.role != Role::Color && {
            let floats = column.values.as_floats_mut();
            source.copy_floats(element, &column.properties, floats).is_some()
        };
        for component in if copied { 0..0 } else { 0..width } {
            let property = column.properties[component];
            let whole = matches!(element.properties[property].kind, Kind::I32 | Kind::U32);
            let mut inexact = 0;
            let read = if column.role == Role::Color {
                let one = column.one;
                let coded = &mut column.coded;
                source.column(element, property, |row, x| coded[row][component] = x / one)
            } else {
                let flat = column.values.as_floats_mut();
                source.column(element, property, |row, x| {
                    flat[row * width + component] = x as f32;
                    inexact += usize::from(whole && f64::from(x as f32) != x);
                })
            };
            if read.is_none() {
                return Ok(false);
            }
            column.inexact += inexact;
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
            column.put(row, component, number);
        }
    }
    Ok(())
}

fn not_finite(row: usize, place: Place) -> Malformed {
    let fix = "give it a place, or remove it with its faces";
    Malformed::new(place, format!("vertex {row} is not finite"), fix)
}
