//! Recorded rigid motion: positions and rotations at given times.
//!
//! Between two keys the position goes straight and the rotation along the shorter arc.
//!
//! ```
//! use glam::DVec3;
//! use supple::modifier::RigidPath;
//!
//! let path = RigidPath::from_csv("time,x,y,z\n0,0,0,0\n2,4,0,0\n")?;
//! let (position, _) = path.at(0.5);
//! assert_eq!(position, DVec3::new(1.0, 0.0, 0.0));
//! # Ok::<(), supple::modifier::PathError>(())
//! ```

use glam::{DAffine3, DQuat, DVec3, Quat};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::placement::turn;
use super::{Key, Wrong};
use crate::rig::keyframes::slerp;

/// A place and a rotation at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathKey {
    /// When, in seconds.
    #[schemars(extend("unit" = "s"), example = 0)]
    pub time: f64,
    /// Where the asset's origin is.
    #[schemars(extend("unit" = "m", "examples" = [[0, 0, 0]]))]
    pub position: [f64; 3],
    /// How the asset is turned: a unit quaternion `[x, y, z, w]`. In a document also three angles in
    /// degrees, about x, then y, then z.
    #[serde(default = "unturned", deserialize_with = "quaternion")]
    #[schemars(with = "Rotation")]
    pub rotation: [f64; 4],
}

/// How a document writes a rotation.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Rotation {
    /// About x, then y, then z.
    Angles(#[schemars(extend("unit" = "deg"))] [f64; 3]),
    /// A quaternion.
    Quaternion([f64; 4]),
}

fn unturned() -> [f64; 4] {
    [0.0, 0.0, 0.0, 1.0]
}

/// The rotation at length one; a quaternion of no length stays, for [`PathKey::check_all`] to find.
fn quaternion<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 4], D::Error> {
    Ok(match Rotation::deserialize(from)? {
        Rotation::Angles(degrees) => turn(degrees).to_array(),
        Rotation::Quaternion(q) => unit(q).unwrap_or_default(),
    })
}

impl PathKey {
    /// Checks the keys of a path, which a document has under `name`.
    pub(crate) fn check_all(keys: &[Self], name: &str) -> Result<(), Wrong> {
        let at = |i| vec![Key::Name(name.to_owned()), Key::Entry(i)];
        let wrong = |at, what: &str, fix: &str| Wrong { at, what: what.into(), fix: fix.into() };
        for (i, key) in keys.iter().enumerate() {
            if i > 0 && keys[i - 1].time >= key.time {
                return Err(wrong(
                    at(i),
                    "this key is not later than the one before",
                    "sort the keys",
                ));
            }
            if key.rotation == [0.0; 4] {
                let rotation = at(i).into_iter().chain([Key::Name("rotation".to_owned())]);
                let fix = "no rotation is [0, 0, 0, 1]";
                return Err(wrong(rotation.collect(), "a quaternion of length 0", fix));
            }
        }
        Ok(())
    }
}

/// The quaternion at length one; one that has it already keeps its bits.
fn unit(q: [f64; 4]) -> Option<[f64; 4]> {
    let q = DQuat::from_array(q);
    let length = q.length();
    if (length - 1.0).abs() < 1e-12 {
        return Some(q.to_array());
    }
    (length > 1e-9 && length.is_finite()).then(|| (q / length).to_array())
}

/// Why a CSV file is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct PathError {
    /// Line, counted from 1.
    pub line: usize,
    /// What is wrong and what would be right.
    pub what: String,
}

/// A motion of a rigid body over time.
#[derive(Clone, Debug, PartialEq)]
pub struct RigidPath {
    /// In order of time; never empty.
    keys: Vec<PathKey>,
}

impl RigidPath {
    /// A path through keys in order of time; `None` without any.
    #[must_use]
    pub fn new(keys: Vec<PathKey>) -> Option<Self> {
        let ordered = keys.windows(2).all(|w| w[0].time < w[1].time);
        (ordered && !keys.is_empty()).then_some(Self { keys })
    }

    /// Reads lines of `time,x,y,z` or `time,x,y,z,qx,qy,qz,qw`; a first line of names, empty lines and
    /// lines that start with `#` are passed over.
    ///
    /// # Errors
    ///
    /// [`PathError`] that names the first line that is wrong.
    pub fn from_csv(text: &str) -> Result<Self, PathError> {
        let mut keys: Vec<PathKey> = Vec::new();
        let mut first = true;
        for (line, row) in (1..).zip(text.lines()) {
            let row = row.trim();
            if row.is_empty() || row.starts_with('#') {
                continue;
            }
            let names = first && row.starts_with(|c: char| c.is_ascii_alphabetic() || c == '"');
            first = false;
            if names {
                continue;
            }
            let key = csv_key(row).map_err(|what| PathError { line, what })?;
            if keys.last().is_some_and(|last| last.time >= key.time) {
                let what = "not later than the line before: sort the lines by time".to_owned();
                return Err(PathError { line, what });
            }
            keys.push(key);
        }
        let empty = || PathError { line: 1, what: "there is no line of numbers".to_owned() };
        Self::new(keys).ok_or_else(empty)
    }

    /// Time of the first and the last key.
    #[must_use]
    pub fn span(&self) -> (f64, f64) {
        (self.keys[0].time, self.keys[self.keys.len() - 1].time)
    }

    /// Whether its last key is where its first is.
    #[must_use]
    pub fn closes(&self) -> bool {
        let (start, end) = self.span();
        let [a, b] = [self.at(start), self.at(end)];
        a.0.distance(b.0) <= 1e-6 * a.0.length().max(1.0) && a.1.dot(b.1).abs() >= 1.0 - 1e-9
    }

    /// Position and rotation at a time.
    #[must_use]
    pub fn at(&self, secs: f64) -> (DVec3, DQuat) {
        let before = self.keys.partition_point(|k| k.time <= secs).saturating_sub(1);
        let from = self.keys[before];
        let rotation = |k: &PathKey| DQuat::from_array(k.rotation);
        let here = (DVec3::from(from.position), rotation(&from));
        let Some(to) = self.keys.get(before + 1) else { return here };
        let u = ((secs - from.time) / (to.time - from.time)).max(0.0);
        if u == 0.0 {
            return here;
        }
        let turned: Quat = slerp(here.1.as_quat(), rotation(to).as_quat(), u as f32);
        (here.0.lerp(DVec3::from(to.position), u), turned.as_dquat().normalize())
    }

    /// The motion at a time as a map of space.
    #[must_use]
    pub fn affine(&self, secs: f64) -> DAffine3 {
        let (position, rotation) = self.at(secs);
        DAffine3::from_rotation_translation(rotation, position)
    }
}

fn csv_key(row: &str) -> Result<PathKey, String> {
    let mut numbers = Vec::new();
    for cell in row.split([',', ';']) {
        let number: Option<f64> = cell.trim().parse().ok().filter(|x: &f64| x.is_finite());
        numbers.push(number.ok_or_else(|| format!("'{}' is not a number", cell.trim()))?);
    }
    let none = [0.0, 0.0, 0.0, 1.0];
    match numbers[..] {
        [time, x, y, z] => Ok(PathKey { time, position: [x, y, z], rotation: none }),
        [time, x, y, z, qx, qy, qz, qw] => {
            let rotation = unit([qx, qy, qz, qw]).ok_or("a quaternion of length 0")?;
            Ok(PathKey { time, position: [x, y, z], rotation })
        }
        _ => Err(format!(
            "{} numbers where time,x,y,z or time,x,y,z,qx,qy,qz,qw are needed",
            numbers.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_halfway_in_the_middle() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let text =
            format!("# t\n\ntime,x,y,z,qx,qy,qz,qw\n0,0,0,0,0,0,0,1\n1,0,2,0,0,0,{half},{half}\n");
        let path = RigidPath::from_csv(&text).unwrap();
        let x = path.affine(0.5).transform_point3(DVec3::X);
        let expected = DVec3::new(half, half + 1.0, 0.0);
        assert!(x.abs_diff_eq(expected, 1e-6), "{x}");
        assert_eq!(path.at(-5.0).0, DVec3::ZERO, "holds before");
        assert_eq!(path.at(5.0).0, DVec3::new(0.0, 2.0, 0.0), "holds after");
    }

    #[test]
    fn wrong_lines_are_named() {
        let fails = |text: &str| RigidPath::from_csv(text).unwrap_err();
        assert_eq!(fails("0,0,0,0\n0,1,1,1\n").line, 2);
        assert!(fails("0,0,0\n").what.contains("3 numbers"), "says how many");
        assert!(fails("0,0,x,0\n").what.contains("'x'"), "names the text");
        assert!(fails("0,0,nan,0\n").what.contains("'nan'"), "no NaN");
        assert!(fails("time,x,y,z\n").what.contains("no line"), "empty");
    }
}
