//! Times by the CF conventions: units since a date of a calendar.

use super::axes::{self, Axis};
use super::file::{Open, malformed, text_of, units_of};
use super::{LevelPlace, find};
use crate::io::ReadError;

/// `days since 2000-01-01`.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeUnits {
    /// As the file writes them.
    pub text: String,
    /// Seconds a unit.
    pub seconds: f64,
    /// The date times count from, in seconds since the year 0 of its calendar.
    reference: f64,
    calendar: Calendar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calendar {
    Gregorian,
    Julian,
    NoLeap,
    AllLeap,
    Days360,
}

impl Calendar {
    fn of(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "" | "standard" | "gregorian" | "proleptic_gregorian" => Self::Gregorian,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Days360,
            _ => return None,
        })
    }

    fn is_leap(self, year: i64) -> bool {
        match self {
            Self::Gregorian => year % 4 == 0 && (year % 100 != 0 || year % 400 == 0),
            Self::Julian => year % 4 == 0,
            Self::NoLeap | Self::Days360 => false,
            Self::AllLeap => true,
        }
    }

    /// Days from the first of January of the year 0.
    fn days(self, year: i64, month: i64, day: i64) -> i64 {
        if self == Self::Days360 {
            return year * 360 + (month - 1) * 30 + day - 1;
        }
        // Leap years before this one, counted from year 0, which is one in the calendars that have any.
        let before = year - 1;
        let leaps = match self {
            Self::Gregorian => {
                before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400) + 1
            }
            Self::Julian => before.div_euclid(4) + 1,
            Self::NoLeap | Self::Days360 => 0,
            Self::AllLeap => year,
        };
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let months: i64 = lengths[..(month - 1).clamp(0, 11) as usize].iter().sum();
        let leap_day = i64::from(month > 2 && self.is_leap(year));
        year * 365 + leaps + months + leap_day + day - 1
    }

    /// Year, month and day of so many days since the first of January of the year 0.
    fn date(self, days: i64) -> (i64, i64, i64) {
        let [shortest, longest] = if self == Self::Days360 { [360; 2] } else { [365, 366] };
        // It is this year or a later one.
        let mut year = days.div_euclid(if days < 0 { shortest } else { longest });
        loop {
            // As many years as fit into what is left.
            let left = days - self.days(year, 1, 1);
            match left / longest {
                0 if days < self.days(year + 1, 1, 1) => break,
                0 => year += 1,
                some => year += some,
            }
        }
        let month = (1..=12).rev().find(|&month| self.days(year, month, 1) <= days).unwrap_or(1);
        (year, month, days - self.days(year, month, 1) + 1)
    }
}

impl TimeUnits {
    /// Understands `units` and `calendar` of a time.
    pub(super) fn parse(units: &str, calendar: &str) -> Option<Self> {
        let (unit, date) = units.split_once(" since ")?;
        let seconds = seconds_of(unit.trim())?;
        let calendar = Calendar::of(calendar)?;
        let date = date.trim().replace(['T', 'Z'], " ");
        let mut words = date.split_ascii_whitespace();
        let mut day = words.next()?.split('-').map(|w| w.parse::<i64>().ok());
        let (year, month, day) = (day.next()??, day.next()??, day.next()??);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year.abs() > 1_000_000 {
            return None;
        }
        let mut clock = words.next().unwrap_or("0").split(':').map(|w| w.parse::<f64>().ok());
        let mut next = || clock.next().map_or(Some(0.0), |x| x);
        let (hours, minutes, secs) = (next()?, next()?, next()?);
        let days = calendar.days(year, month, day) as f64;
        let reference = days * 86400.0 + hours * 3600.0 + minutes * 60.0 + secs;
        Some(Self { text: units.to_owned(), seconds, reference, calendar })
    }

    /// A time as a date of its calendar, to the minute; with seconds if there are any.
    #[must_use]
    pub fn date(&self, time: f64) -> Option<String> {
        let seconds = (self.reference + time * self.seconds).round();
        // Four thousand millennia: beyond, the number says more.
        if !seconds.is_finite() || seconds.abs() > 1.3e14 {
            return None;
        }
        let (days, rest) = ((seconds as i64).div_euclid(86400), (seconds as i64).rem_euclid(86400));
        let (year, month, day) = self.calendar.date(days);
        let (hours, minutes, secs) = (rest / 3600, rest / 60 % 60, rest % 60);
        let date = format!("{year:04}-{month:02}-{day:02} {hours:02}:{minutes:02}");
        Some(if secs == 0 { date } else { format!("{date}:{secs:02}") })
    }

    /// A time of other units, in these.
    fn convert(&self, time: f64, from: &Self) -> f64 {
        if from.reference == self.reference && from.seconds == self.seconds {
            return time;
        }
        (time * from.seconds + from.reference - self.reference) / self.seconds
    }
}

fn seconds_of(unit: &str) -> Option<f64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "milliseconds" | "millisecond" | "msec" | "ms" => 1e-3,
        "seconds" | "second" | "secs" | "sec" | "s" => 1.0,
        "minutes" | "minute" | "mins" | "min" => 60.0,
        "hours" | "hour" | "hrs" | "hr" | "h" => 3600.0,
        "days" | "day" | "d" => 86400.0,
        "weeks" | "week" => 604_800.0,
        // As UDUNITS counts them: a twelfth of a tropical year.
        "months" | "month" => 31_556_925.974_7 / 12.0,
        "years" | "year" => 31_556_925.974_7,
        _ => return None,
    })
}

type Levels = (Vec<Vec<LevelPlace>>, Option<Vec<f64>>, Option<TimeUnits>);

/// The levels of all components: files that have the same variable follow each other.
pub(super) fn levels(
    files: &[Open],
    names: &[String],
    assumed: &mut Vec<String>,
) -> Result<Levels, ReadError> {
    let mut units: Option<TimeUnits> = None;
    let mut of_name: Vec<Vec<(LevelPlace, Option<f64>)>> = Vec::new();
    for name in names {
        let mut places = Vec::new();
        for (k, file) in files.iter().enumerate() {
            if file.variable(name).is_some() {
                places.extend(levels_of(k, file, name, &mut units, assumed)?);
            }
        }
        of_name.push(places);
    }
    let first = of_name.first().cloned().unwrap_or_default();
    for (name, other) in names.iter().zip(&of_name) {
        if other.len() != first.len() {
            let (n, m) = (other.len(), first.len());
            let what = format!("'{name}' has {n} times, '{}' has {m}", names[0]);
            let path = find(files, name).map_or(&files[0].path, |(k, _)| &files[k].path);
            return Err(malformed(path, what, "name files that cover the same times"));
        }
    }
    if first.is_empty() {
        return Err(malformed(
            &files[0].path,
            "there is no time",
            "the file is empty; write it again",
        ));
    }
    let times: Option<Vec<f64>> = first.iter().map(|(_, t)| *t).collect();
    let together = |level: usize| {
        let mut places: Vec<LevelPlace> = of_name.iter().map(|o| o[level].0).collect();
        // Other variables of the same files have the same index.
        places.dedup();
        places
    };
    let levels = (0..first.len()).map(together).collect();
    Ok((levels, times.filter(|t| t.iter().all(|x| x.is_finite())), units))
}

/// The levels of one variable in one file, with their times.
fn levels_of(
    index: usize,
    file: &Open,
    name: &str,
    units: &mut Option<TimeUnits>,
    assumed: &mut Vec<String>,
) -> Result<Vec<(LevelPlace, Option<f64>)>, ReadError> {
    let Some(variable) = file.variable(name) else { return Ok(Vec::new()) };
    let order = axes::order(file, variable)?;
    let Some(k) = order.dimension(Axis::T) else { return Ok(vec![((index, None), None)]) };
    let dimension = &variable.dimensions()[k];
    // A level takes more than a byte, compressed or not.
    if dimension.size > file.bytes {
        let what = format!("'{}' is {} long", dimension.name, dimension.size);
        return Err(malformed(&file.path, what, "the file is damaged; copy it again"));
    }
    let own = file.variables()?.iter().find(|v| v.name() == dimension.name && v.ndim() == 1);
    let Some(own) = own else {
        return Ok((0..dimension.size).map(|t| ((index, Some(t)), None)).collect());
    };
    let values = file.read_all(own)?;
    let text = units_of(own).unwrap_or_default();
    let calendar = text_of(own, "calendar").unwrap_or_default();
    let parsed = TimeUnits::parse(&text, &calendar);
    if parsed.is_none() {
        let said = if text.is_empty() {
            format!("'{}' has no unit: taken as it is", own.name())
        } else {
            format!(
                "the unit of '{}', '{text} {calendar}', is not known: taken as it is",
                own.name()
            )
        };
        if !assumed.contains(&said) {
            assumed.push(said);
        }
    }
    let reference = units.clone().or_else(|| parsed.clone());
    if units.is_none() {
        units.clone_from(&parsed);
    }
    let time = |t: f64| match (&reference, &parsed) {
        (Some(to), Some(from)) if to.calendar == from.calendar => to.convert(t, from),
        _ => t,
    };
    let one = |t: u64| ((index, Some(t)), values.get(t as usize).map(|&x| time(x)));
    Ok((0..dimension.size).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_calendars() {
        let days = |c: Calendar, y, m, d| c.days(y, m, d);
        let g = Calendar::Gregorian;
        assert_eq!(days(g, 2000, 3, 1) - days(g, 2000, 2, 28), 2);
        assert_eq!(days(g, 1900, 3, 1) - days(g, 1900, 2, 28), 1);
        assert_eq!(days(g, 1970, 1, 1) - days(g, 1900, 1, 1), 25567);
        assert_eq!(days(Calendar::Julian, 1900, 3, 1) - days(Calendar::Julian, 1900, 2, 28), 2);
        assert_eq!(days(Calendar::NoLeap, 2001, 1, 1) - days(Calendar::NoLeap, 2000, 1, 1), 365);
        assert_eq!(days(Calendar::AllLeap, 2001, 1, 1) - days(Calendar::AllLeap, 2000, 1, 1), 366);
        assert_eq!(days(Calendar::Days360, 2001, 1, 1) - days(Calendar::Days360, 2000, 1, 1), 360);
    }

    #[test]
    fn days_become_dates_of_all_calendars() {
        use Calendar::{AllLeap, Days360, Gregorian, Julian, NoLeap};
        for calendar in [Gregorian, Julian, NoLeap, AllLeap, Days360] {
            for days in (-400_000..900_000).step_by(37) {
                let (year, month, day) = calendar.date(days);
                assert_eq!(calendar.days(year, month, day), days, "{calendar:?}");
                assert!((1..=12).contains(&month) && (1..=31).contains(&day), "{month} {day}");
            }
        }
        let seconds = TimeUnits::parse("seconds since 1970-01-01 00:00:00", "").unwrap();
        assert_eq!(seconds.date(1_454_587_200.0).unwrap(), "2016-02-04 12:00");
        let days = TimeUnits::parse("days since 2000-02-28", "noleap").unwrap();
        assert_eq!(days.date(1.0 + 1.0 / 86400.0).unwrap(), "2000-03-01 00:00:01");
        assert_eq!(days.date(1e300), None);
    }

    #[test]
    fn units_since_a_date() {
        let days = TimeUnits::parse("days since 2000-01-01 00:00:00", "").unwrap();
        let hours = TimeUnits::parse("hours since 2000-01-02T12:00", "gregorian").unwrap();
        assert_eq!(days.convert(12.0, &hours), 2.0);
        assert_eq!(TimeUnits::parse("days since 1900-1-1", "").unwrap().seconds, 86400.0);
        for bad in ["days", "days since", "days since 2000", "moons since 2000-01-01"] {
            assert_eq!(TimeUnits::parse(bad, ""), None, "{bad}");
        }
        assert_eq!(TimeUnits::parse("days since 2000-01-01", "lunar"), None);
    }
}
