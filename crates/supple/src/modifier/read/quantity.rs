//! Quantities: plain numbers in a documented unit, or text with a unit such as `"500 ms"`.
//!
//! A parameter names the unit it is kept in; which others may stand in a document follows from that.
//!
//! ```
//! use supple::modifier::read::Unit;
//!
//! assert_eq!(Unit("s").parse("500 ms", 24.0), Ok(0.5));
//! assert_eq!(Unit("s").parse("48 frames", 24.0), Ok(2.0));
//! assert_eq!(Unit("N/m").parse("3 N/m", 24.0), Ok(3.0));
//! assert!(Unit("s").parse("2 kg", 24.0).unwrap_err().contains("s, ms, min, frames"));
//! ```

use std::borrow::Cow;

/// What a number in a document measures: the unit it is kept in, or nothing for a plain number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unit<'a>(pub &'a str);

/// A unit, what it measures, and what may stand in its place: how much one of that is.
type Measure = (&'static str, &'static str, &'static [(&'static str, f64)]);

const DEGREES: f64 = 180.0 / std::f64::consts::PI;

/// Units with others in their place; of any other unit there is only itself.
const MEASURES: [Measure; 13] = [
    ("", "a plain number", &[("%", 0.01)]),
    ("s", "a time in seconds", &[("s", 1.0), ("ms", 1e-3), ("min", 60.0), ("frames", 0.0)]),
    ("deg", "an angle in degrees", &[("deg", 1.0), ("rad", DEGREES), ("turn", 360.0)]),
    ("fps", "frames a second", &[("fps", 1.0), ("Hz", 1.0)]),
    ("Hz", "a frequency in Hz", &[("Hz", 1.0), ("kHz", 1e3)]),
    ("m", "a length in m", &[("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)]),
    ("m2", "an area in m²", &[("m2", 1.0), ("cm2", 1e-4), ("mm2", 1e-6)]),
    ("m/s", "a velocity in m/s", &[("m/s", 1.0), ("cm/s", 1e-2), ("mm/s", 1e-3)]),
    ("m/s2", "an acceleration in m/s2", &[("m/s2", 1.0), ("cm/s2", 1e-2)]),
    ("deg/s", "a rotation in degrees a second", &[("deg/s", 1.0), ("rad/s", DEGREES)]),
    ("kg", "a mass in kg", &[("kg", 1.0), ("g", 1e-3)]),
    ("N", "a force in N", &[("N", 1.0), ("mN", 1e-3), ("kN", 1e3)]),
    ("Pa", "a pressure in Pa", &[("Pa", 1.0), ("kPa", 1e3), ("MPa", 1e6)]),
];

/// The unit in plain letters.
fn plain(unit: &str) -> Cow<'_, str> {
    match unit {
        "1" => Cow::Borrowed(""),
        "frame" => Cow::Borrowed("frames"),
        _ if unit.is_ascii() => Cow::Borrowed(unit),
        _ => Cow::Owned(unit.replace('²', "2").replace('³', "3").replace('°', "deg")),
    }
}

impl Unit<'_> {
    fn known(self) -> Option<&'static Measure> {
        let name = plain(self.0);
        MEASURES.iter().find(|m| m.0 == name)
    }

    /// What the unit measures.
    #[must_use]
    pub fn measures(self) -> Cow<'static, str> {
        let other = || Cow::Owned(format!("a number in {}", self.0));
        self.known().map_or_else(other, |m| Cow::Borrowed(m.1))
    }

    /// The number of a text such as `1.5 rad`, in the documented unit.
    ///
    /// # Errors
    ///
    /// What is wrong with the text, naming the units that are allowed.
    pub fn parse(self, text: &str, fps: f64) -> Result<f64, String> {
        let text = text.trim();
        let ends_number = |(i, c): (usize, char)| {
            let exponent = matches!(c, 'e' | 'E') && {
                let rest = text[i + 1..].trim_start_matches(['+', '-']);
                rest.starts_with(|c: char| c.is_ascii_digit())
            };
            !(exponent || c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '_'))
        };
        let split = text.char_indices().find(|&at| ends_number(at)).map_or(text.len(), |at| at.0);
        let (number, unit) = (text[..split].trim().replace('_', ""), text[split..].trim());
        let Ok(number) = number.parse::<f64>() else {
            return Err(format!("'{text}' does not start with a number; {}", self.allowed()));
        };
        let given = plain(unit);
        if given.is_empty() || given == plain(self.0) {
            return Ok(number);
        }
        // A thousandth is a division: 500 ms is 0.5 s exactly.
        let scaled = |size: f64| if size < 1.0 { number / (1.0 / size) } else { number * size };
        match self.known().and_then(|m| m.2.iter().find(|(name, _)| *name == given)) {
            Some(("frames", _)) => Ok(number / fps),
            Some(&(_, size)) => Ok(scaled(size)),
            None => Err(format!(
                "'{unit}' is not a unit here: {} is wanted; {}",
                self.measures(),
                self.allowed()
            )),
        }
    }

    fn allowed(self) -> String {
        let list = self.known().map(|m| m.2.iter().map(|n| n.0).collect::<Vec<_>>().join(", "));
        format!("units allowed: {}", list.as_deref().unwrap_or(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_convert_to_the_documented_one() {
        let cases = [
            ("s", "2 s", 2.0),
            ("s", "1.5min", 90.0),
            ("s", "1e3 ms", 1.0),
            ("s", "-12 frames", -0.5),
            ("s", "1 frame", 1.0 / 24.0),
            ("deg", "90 deg", 90.0),
            ("deg", "90°", 90.0),
            ("deg", "0.25 turn", 90.0),
            ("fps", "30 fps", 30.0),
            ("", "50 %", 0.5),
            ("1", "50 %", 0.5),
            ("m", "25 cm", 0.25),
            ("", "7", 7.0),
            ("m/s²", "3 m/s2", 3.0),
            ("m/s2", "3 m/s²", 3.0),
            ("kg/m³", "1000 kg/m3", 1000.0),
        ];
        for (unit, text, expected) in cases {
            assert_eq!(Unit(unit).parse(text, 24.0), Ok(expected), "{text}");
        }
        let right = Unit("deg").parse("1.5 rad", 24.0).unwrap();
        assert!((right - 1.5_f64.to_degrees()).abs() < 1e-12, "{right}");
    }

    #[test]
    fn wrong_units_are_named_with_the_right_ones() {
        let error = Unit("s").parse("2 kg", 24.0).unwrap_err();
        assert!(error.contains("'kg'") && error.contains("frames"), "{error}");
        let error = Unit("deg").parse("abc", 24.0).unwrap_err();
        assert!(error.contains("does not start with a number"), "{error}");
        let error = Unit("N/m").parse("2 s", 24.0).unwrap_err();
        assert!(error.contains("a number in N/m") && error.contains("allowed: N/m"), "{error}");
        assert!(Unit("s").parse("", 24.0).is_err(), "an empty text is no quantity");
        assert!(Unit("s").parse("1..2 s", 24.0).is_err(), "two points");
    }
}
