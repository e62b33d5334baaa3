//! Levels that follow the sea floor: where the layers of s- and sigma-coordinates are.
//!
//! # Method
//!
//! With depth h, s from −1 (floor) to 0 (surface) and its stretching C(s), at mean sea level:
//!
//! | `standard_name` | z |
//! |---|---|
//! | `ocean_s_coordinate_g1` (ROMS, `Vtransform` 1) | hc s + (h − hc) C |
//! | `ocean_s_coordinate_g2` (ROMS, `Vtransform` 2) | h (hc s + h C) / (h + hc) |
//! | `ocean_sigma_coordinate` | h s |
//!
//! Values stand in the middle of layers. A layer at the floor and one at the surface are added, with the values of the
//! layer beside them, so that the sea is filled.
//!
//! # Limits
//!
//! The surface is at rest: the grid would move with it. Other vertical coordinates are refused by name.
//!
//! # References
//!
//! - NetCDF Climate and Forecast (CF) Metadata Conventions, appendix D.

use netcdf_reader::NcVariable;

use super::file::{Open, malformed, text_of};
use crate::io::ReadError;

/// A vertical coordinate that follows the sea floor.
#[derive(Debug)]
pub(super) struct Terrain {
    kind: Kind,
    s: Vec<f64>,
    stretching: Vec<f64>,
    critical: f64,
    /// The variable with the depth of the sea.
    pub(super) depth: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    First,
    Second,
    Sigma,
}

impl Terrain {
    /// The coordinate of a dimension, if it is such a one.
    pub(super) fn of(
        files: &[Open],
        file: &Open,
        own: &NcVariable,
        assumed: &mut Vec<String>,
    ) -> Result<Option<Self>, ReadError> {
        let meaning = text_of(own, "standard_name").unwrap_or_default();
        let number = |name: &str| files.iter().find_map(|f| f.number(name));
        let transform = number("Vtransform");
        let kind = match meaning.as_str() {
            "ocean_sigma_coordinate" => Kind::Sigma,
            // Old files of ROMS have one name for both.
            "ocean_s_coordinate" if transform.is_none() => Kind::First,
            "ocean_s_coordinate" | "ocean_s_coordinate_g1" | "ocean_s_coordinate_g2" => {
                match transform {
                    Some(1.0) => Kind::First,
                    None if meaning.ends_with("g1") => Kind::First,
                    _ => Kind::Second,
                }
            }
            "" if own.name() == "s_rho" => match transform {
                Some(1.0) => Kind::First,
                _ => Kind::Second,
            },
            other if other.contains("sigma") || other.contains("ocean_s_") => {
                let what = format!("the vertical coordinate '{}' is {other}", own.name());
                let fix = "interpolate the velocity to depths, or take one layer of it";
                return Err(malformed(&file.path, what, fix));
            }
            _ => return Ok(None),
        };
        let terms = text_of(own, "formula_terms").unwrap_or_default();
        let term = |name: &str, usual: &str| {
            let mut words = terms.split_ascii_whitespace();
            let key = format!("{name}:");
            let named = words.find(|w| *w == key).and_then(|_| words.next());
            named.unwrap_or(usual).to_owned()
        };
        let missing = |name: &str| {
            let what = format!("'{}' follows the sea floor, and '{name}' is not here", own.name());
            malformed(&file.path, what, "add the file that has it (the grid file)")
        };
        let s = file.read_all(own)?;
        let (mut stretching, mut critical) = (s.clone(), 0.0);
        if kind != Kind::Sigma {
            let name = term("C", "Cs_r");
            let found = files.iter().find_map(|f| Some((f, f.variable(&name)?)));
            let (f, variable) = found.ok_or_else(|| missing(&name))?;
            stretching = f.read_all(variable)?;
            let name = term("depth_c", "hc");
            critical = number(&name).ok_or_else(|| missing(&name))?;
        }
        let finite = s.iter().chain(&stretching).all(|x| x.is_finite()) && critical.is_finite();
        if stretching.len() != s.len() || s.is_empty() || !finite {
            let what = format!("'{}' and its stretching do not fit each other", own.name());
            return Err(malformed(&file.path, what, "the file is damaged; write it again"));
        }
        assumed.push("layers follow the sea floor; the surface is taken at rest".to_owned());
        Ok(Some(Self { kind, s, stretching, critical, depth: term("depth", "h") }))
    }

    /// Layers with those at the floor and at the surface.
    pub(super) fn layers(&self) -> usize {
        self.s.len() + 2
    }

    /// Heights of all layers above points with these depths, a layer after the other.
    pub(super) fn heights(&self, depths: &[f64]) -> Vec<f64> {
        let rises = self.s.last() >= self.s.first();
        let ends = if rises { [-1.0, 0.0] } else { [0.0, -1.0] };
        let layers = std::iter::once((ends[0], ends[0]))
            .chain(self.s.iter().copied().zip(self.stretching.iter().copied()))
            .chain([(ends[1], ends[1])]);
        let mut heights = Vec::with_capacity(depths.len() * self.layers());
        for (s, c) in layers {
            heights.extend(depths.iter().map(|&h| self.height(h, s, c)));
        }
        heights
    }

    fn height(&self, h: f64, s: f64, c: f64) -> f64 {
        let hc = self.critical;
        match self.kind {
            Kind::First => hc * s + (h - hc) * c,
            Kind::Second => h * (hc * s + h * c) / (h + hc),
            Kind::Sigma => h * s,
        }
    }

    /// Values of the layers, with those at the floor and at the surface.
    pub(super) fn padded(&self, values: Vec<f32>, points: usize, ends: Ends) -> Vec<f32> {
        let mut padded = Vec::with_capacity(values.len() + 2 * points);
        let end = |from: usize| match ends {
            Ends::Same => values[from..from + points].to_vec(),
            Ends::Zero => values[from..from + points].iter().map(|x| x * 0.0).collect(),
        };
        if values.len() < points {
            return values;
        }
        padded.extend(end(0));
        padded.extend_from_slice(&values);
        padded.extend(end(values.len() - points));
        padded
    }
}

/// What stands at the floor and at the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// What the layer beside has.
    Same,
    /// Nothing moves through them.
    Zero,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terrain(kind: Kind) -> Terrain {
        let s = vec![-0.75, -0.25];
        Terrain { kind, stretching: vec![-0.6, -0.1], s, critical: 20.0, depth: "h".to_owned() }
    }

    #[test]
    fn layers_reach_from_the_floor_to_the_surface() {
        for kind in [Kind::First, Kind::Second, Kind::Sigma] {
            let heights = terrain(kind).heights(&[100.0, 40.0]);
            assert_eq!(heights[..2], [-100.0, -40.0], "{kind:?}");
            assert_eq!(heights[6..], [0.0, 0.0], "{kind:?}");
            assert!(heights[0] < heights[2] && heights[2] < heights[4], "{kind:?}");
        }
        assert_eq!(terrain(Kind::First).heights(&[100.0])[1], 20.0 * -0.75 + 80.0 * -0.6);
        let second = 100.0 * (20.0 * -0.75 + 100.0 * -0.6) / 120.0;
        assert_eq!(terrain(Kind::Second).heights(&[100.0])[1], second);
        assert_eq!(terrain(Kind::Sigma).heights(&[100.0])[2], -25.0);
    }

    #[test]
    fn the_ends_have_what_is_beside_them() {
        let terrain = terrain(Kind::Second);
        let padded = terrain.padded(vec![1.0, 2.0, 3.0, 4.0], 2, Ends::Same);
        assert_eq!(padded, [1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0]);
        assert_eq!(terrain.padded(vec![1.0, 2.0], 1, Ends::Zero), [0.0, 1.0, 2.0, 0.0]);
    }
}
