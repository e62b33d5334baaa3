//! How a document writes tracks, and parameters that name them.

use super::document::{Field, Range, Table};
use super::{Problem, Unit};
use crate::modifier::{Ease, Track, Value};

impl Track {
    pub(super) fn read(table: &Table<'_>) -> Result<Self, Problem> {
        table.only(&["interpolation", "keys"])?;
        let eases = [("step", Ease::Step), ("linear", Ease::Linear), ("smooth", Ease::Smooth)];
        let interpolation = table.get("interpolation").map(|f| f.choice(&eases)).transpose()?;
        let field = table.need("keys")?;
        let mut keys: Vec<[f64; 2]> = Vec::new();
        for item in field.items()? {
            let pair = item.items()?;
            let [time, value] = &pair[..] else {
                return Err(item.wrong("a key has two entries", "write [time, value]"));
            };
            let key = [time.number(Unit("s"), Range::ANY)?, value.number(Unit(""), Range::ANY)?];
            if keys.last().is_some_and(|last| last[0] >= key[0]) {
                return Err(
                    time.wrong("this key is not later than the one before", "sort the keys")
                );
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err(field.wrong("a track without keys", "write at least one [time, value]"));
        }
        Ok(Self { interpolation: interpolation.unwrap_or_default(), keys })
    }
}

impl Field<'_> {
    /// A number in the unit and range, or the name of a track that stays within it.
    pub(super) fn value(&self, unit: Unit<'_>, range: Range) -> Result<Value, Problem> {
        let Some(name) = self.as_name() else { return self.number(unit, range).map(Value::Number) };
        let tracks = self.document.tracks.borrow();
        let Some(track) = tracks.get(name) else {
            let known: Vec<&str> = tracks.keys().map(String::as_str).collect();
            let wanted = format!("or write {}", unit.measures());
            let fix = super::document::suggest(name, &known)
                .map_or(wanted, |near| format!("did you mean the track '{near}'?"));
            return Err(self.wrong(&format!("there is no track '{name}'"), &fix));
        };
        if let Some([time, value]) = track.keys.iter().find(|k| !range.contains(k[1])) {
            let what = format!("track '{name}' is {value} at {time} s");
            return Err(self.wrong(&what, &format!("'{}' must be {range}", self.key)));
        }
        Ok(Value::Track(name.to_owned()))
    }

    /// Three numbers or track names.
    pub(super) fn values3(&self, unit: Unit<'_>, range: Range) -> Result<[Value; 3], Problem> {
        let items = self.items()?;
        let [x, y, z] = &items[..] else {
            return Err(self.wrong(&format!("{} entries", items.len()), "three are needed"));
        };
        Ok([x.value(unit, range)?, y.value(unit, range)?, z.value(unit, range)?])
    }
}
