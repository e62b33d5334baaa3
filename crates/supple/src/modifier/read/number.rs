//! The numbers a parameter may have.

use std::fmt;

use serde_json::Value as Json;

/// Bounds of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// Whether the bounds themselves are left out.
    open: [bool; 2],
}

/// Where nothing else is said: far beyond what a scene measures, and far below what f32 can hold.
const FAR: f64 = 1e9;

impl Range {
    /// Those of a schema.
    pub(crate) fn of(schema: &Json) -> Self {
        let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
        let format = schema.get("format").and_then(Json::as_str);
        let (low, high) = match format {
            Some("uint8") => (0.0, f64::from(u8::MAX)),
            Some("uint16") => (0.0, f64::from(u16::MAX)),
            Some("uint32") => (0.0, f64::from(u32::MAX)),
            Some("int32") => (f64::from(i32::MIN), f64::from(i32::MAX)),
            // A document has integers of 64 bits with a sign; up to here f64 holds them all.
            Some("uint" | "uint64") => (0.0, 9e15),
            Some("int" | "int64") => (-9e15, 9e15),
            _ => (-FAR, FAR),
        };
        let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
        Self {
            least: above.or(bound("minimum")).unwrap_or(low),
            most: below.or(bound("maximum")).unwrap_or(high),
            open: [above.is_some(), below.is_some()],
        }
    }

    /// In few words, for a help text; nothing where nothing was said.
    pub(super) fn note(&self, schema: &Json) -> String {
        let said = |key: &str| schema.get(key).is_some();
        // That a count is not negative goes without saying.
        let counts = schema.get("type").is_some_and(|t| t == "integer") && self.least == 0.0;
        match (said("maximum") || said("exclusiveMaximum"), counts) {
            (true, _) if self.least > -FAR => self.to_string(),
            (true, _) => format!("up to {}", self.most),
            (false, false) if said("exclusiveMinimum") => format!("above {}", self.least),
            (false, false) if said("minimum") => format!("{} or more", self.least),
            (false, _) => String::new(),
        }
    }

    pub(crate) fn contains(&self, x: f64) -> bool {
        let [above, below] = self.open;
        (self.least..=self.most).contains(&x)
            && !(above && x == self.least)
            && !(below && x == self.most)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { least, most, open } = self;
        match open {
            [false, false] => write!(f, "between {least} and {most}"),
            [true, false] => write!(f, "above {least} and up to {most}"),
            [false, true] => write!(f, "from {least} and below {most}"),
            [true, true] => write!(f, "above {least} and below {most}"),
        }
    }
}
