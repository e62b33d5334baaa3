//! Quantities: plain numbers in a documented unit, or text with a unit such as `"500 ms"`.
//!
//! ```
//! use supple::scene::Unit;
//!
//! assert_eq!(Unit::Time.parse("500 ms", 24.0), Ok(0.5));
//! assert_eq!(Unit::Time.parse("48 frames", 24.0), Ok(2.0));
//! assert!(Unit::Time.parse("2 kg", 24.0).unwrap_err().contains("s, ms, min, frames"));
//! ```

/// What a number in a scene measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number, or per cent.
    Factor,
    /// Seconds.
    Time,
    /// Degrees.
    Angle,
    /// Frames a second.
    FrameRate,
    /// Hertz.
    Frequency,
    /// Scene units, which glTF calls metres.
    Length,
    /// Scene units a second squared.
    Acceleration,
}

impl Unit {
    /// What the unit measures.
    #[must_use]
    pub fn measures(self) -> &'static str {
        match self {
            Self::Factor => "a plain number",
            Self::Time => "a time in seconds",
            Self::Angle => "an angle in degrees",
            Self::FrameRate => "frames a second",
            Self::Frequency => "a frequency in Hz",
            Self::Length => "a length in m",
            Self::Acceleration => "an acceleration in m/s2",
        }
    }

    /// Names that may follow a number, and how much one of it is.
    fn names(self, fps: f64) -> Vec<(&'static str, f64)> {
        match self {
            Self::Factor => vec![("%", 0.01)],
            Self::Time => {
                let frame = 1.0 / fps;
                vec![("s", 1.0), ("ms", 1e-3), ("min", 60.0), ("frames", frame), ("frame", frame)]
            }
            Self::Angle => {
                vec![("deg", 1.0), ("rad", 180.0 / std::f64::consts::PI), ("turn", 360.0)]
            }
            Self::FrameRate => vec![("fps", 1.0), ("Hz", 1.0)],
            Self::Frequency => vec![("Hz", 1.0), ("kHz", 1e3)],
            Self::Length => vec![("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)],
            Self::Acceleration => vec![("m/s2", 1.0)],
        }
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
        let names = self.names(fps);
        let Ok(number) = number.parse::<f64>() else {
            return Err(format!("'{text}' does not start with a number; {}", self.allowed(&names)));
        };
        if unit.is_empty() {
            return Ok(number);
        }
        // A thousandth is a division: 500 ms is 0.5 s exactly.
        let scaled = |size: f64| if size < 1.0 { number / (1.0 / size) } else { number * size };
        match names.iter().find(|(name, _)| *name == unit) {
            Some(("frames" | "frame", _)) => Ok(number / fps),
            Some(&(_, size)) => Ok(scaled(size)),
            None => Err(format!(
                "'{unit}' is not a unit here: {} is wanted; {}",
                self.measures(),
                self.allowed(&names)
            )),
        }
    }

    fn allowed(self, names: &[(&str, f64)]) -> String {
        let list: Vec<_> = names.iter().map(|n| n.0).filter(|n| *n != "frame").collect();
        format!("units allowed: {}", list.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_convert_to_the_documented_one() {
        let cases = [
            (Unit::Time, "2 s", 2.0),
            (Unit::Time, "1.5min", 90.0),
            (Unit::Time, "1e3 ms", 1.0),
            (Unit::Time, "-12 frames", -0.5),
            (Unit::Time, "1 frame", 1.0 / 24.0),
            (Unit::Angle, "90 deg", 90.0),
            (Unit::Angle, "0.25 turn", 90.0),
            (Unit::FrameRate, "30 fps", 30.0),
            (Unit::Factor, "50 %", 0.5),
            (Unit::Length, "25 cm", 0.25),
            (Unit::Factor, "7", 7.0),
        ];
        for (unit, text, expected) in cases {
            assert_eq!(unit.parse(text, 24.0), Ok(expected), "{text}");
        }
        let right = Unit::Angle.parse("1.5 rad", 24.0).unwrap();
        assert!((right - 1.5_f64.to_degrees()).abs() < 1e-12, "{right}");
    }

    #[test]
    fn wrong_units_are_named_with_the_right_ones() {
        let error = Unit::Time.parse("2 kg", 24.0).unwrap_err();
        assert!(error.contains("'kg'") && error.contains("frames"), "{error}");
        let error = Unit::Angle.parse("abc", 24.0).unwrap_err();
        assert!(error.contains("does not start with a number"), "{error}");
        assert!(Unit::Time.parse("", 24.0).is_err(), "an empty text is no quantity");
        assert!(Unit::Time.parse("1..2 s", 24.0).is_err(), "two points");
    }
}
