//! Where smoke is released: a polyline, open or closed, that may move over time.

use serde::{Deserialize, Serialize};

/// A polyline at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeedLine {
    /// Its corners.
    pub points: Vec<[f64; 3]>,
    /// True if the last corner is joined to the first.
    pub closed: bool,
    /// When it is there, on the flow's clock; between two times it moves in a straight line.
    pub at: f64,
}

/// What is wrong with seeds.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BadSeed {
    /// There is no line.
    #[error("a seed line needs at least two points at different places")]
    TooShort,
    /// A coordinate is NaN or infinite.
    #[error("point {point} of a seed line is not finite")]
    NotFinite {
        /// Which.
        point: usize,
    },
    /// When a line is there makes no sense.
    #[error("the time of key {key} of a seed line is not finite")]
    Time {
        /// Which, in order of time.
        key: usize,
    },
    /// A surface needs four corners.
    #[error("a time surface is put between four corners, in order around it; {corners} were given")]
    NoPatch {
        /// How many were given.
        corners: usize,
    },
    /// A column must have two vertices.
    #[error("a column needs at least 2 rows, {rows} were asked for")]
    Rows {
        /// What was asked for.
        rows: usize,
    },
}

/// Seed lines over time, resampled: columns of one or several parts with nothing between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Seeds {
    /// A time and as many places as there are rows, in order of time.
    keys: Vec<(f64, Vec<[f64; 3]>)>,
    /// Rows of all other parts, which stay where they are.
    parts: Vec<[f64; 3]>,
    /// Rows of a part.
    rows: usize,
}

impl Seeds {
    /// Lines with as many places each as there are rows, evenly spaced: keys of one line over time, and other parts.
    ///
    /// # Errors
    ///
    /// [`BadSeed`] if a line has no length or a row is missing.
    pub fn new(lines: &[SeedLine], parts: &[Vec<[f64; 3]>], rows: usize) -> Result<Self, BadSeed> {
        let key = |line: &SeedLine| Ok((line.at, resample(&line.points, line.closed, rows)?));
        let mut keys = lines.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        if keys.is_empty() {
            return Err(BadSeed::TooShort);
        }
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(key) = keys.iter().position(|key| !key.0.is_finite()) {
            return Err(BadSeed::Time { key });
        }
        let parts = parts.iter().map(|points| resample(points, false, rows));
        let parts = parts.collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Self { keys, parts, rows })
    }

    /// Rows of a column, all parts together.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows + self.parts.len()
    }

    /// Rows of a part.
    #[must_use]
    pub fn rows_of_part(&self) -> usize {
        self.rows
    }

    /// The places at a time.
    #[must_use]
    pub fn at(&self, t: f64) -> Vec<[f64; 3]> {
        let mut places = self.line_at(t);
        places.extend_from_slice(&self.parts);
        places
    }

    fn line_at(&self, t: f64) -> Vec<[f64; 3]> {
        let after = self.keys.partition_point(|key| key.0 <= t);
        let (a, b) = match (after.checked_sub(1), self.keys.get(after)) {
            (None, _) => return self.keys[0].1.clone(),
            (Some(last), None) => return self.keys[last].1.clone(),
            (Some(before), Some(next)) => (&self.keys[before], next),
        };
        let s = (t - a.0) / (b.0 - a.0);
        a.1.iter().zip(&b.1).map(|(p, q)| between(*p, *q, s)).collect()
    }
}

/// The columns of a patch with four corners, in order around it: rows along the first side.
///
/// # Errors
///
/// [`BadSeed`] if there are not four corners, or two of them are one.
pub fn patch(
    corners: &[[f64; 3]],
    columns: usize,
    rows: usize,
) -> Result<Vec<Vec<[f64; 3]>>, BadSeed> {
    let &[a, b, c, d] = corners else { return Err(BadSeed::NoPatch { corners: corners.len() }) };
    let (near, far) = (resample(&[a, b], false, rows)?, resample(&[d, c], false, rows)?);
    let column = |i: usize| {
        let s = i as f64 / (columns.max(2) - 1) as f64;
        near.iter().zip(&far).map(|(p, q)| between(*p, *q, s)).collect()
    };
    Ok((0..columns).map(column).collect())
}

/// A polyline as `rows` places: spacings differ as little as they can with every corner kept; with too few rows for
/// that, evenly by length.
///
/// # Errors
///
/// [`BadSeed`] if the line has no length, or rows are fewer than two.
pub fn resample(points: &[[f64; 3]], closed: bool, rows: usize) -> Result<Vec<[f64; 3]>, BadSeed> {
    if rows < 2 {
        return Err(BadSeed::Rows { rows });
    }
    if let Some(point) = points.iter().position(|p| p.iter().any(|c| !c.is_finite())) {
        return Err(BadSeed::NotFinite { point });
    }
    let mut corners = points.to_vec();
    if closed {
        corners.extend(points.first());
    }
    corners.dedup();
    let lengths: Vec<f64> = corners.windows(2).map(|w| distance(w[0], w[1])).collect();
    let total: f64 = lengths.iter().sum();
    if total <= 0.0 {
        return Err(BadSeed::TooShort);
    }
    if lengths.len() > rows - 1 {
        return Ok(evenly(&corners, &lengths, total, rows));
    }
    let mut cells = vec![1_usize; lengths.len()];
    // Each cell more goes where cells are longest.
    for _ in lengths.len()..rows - 1 {
        let longest = (0..cells.len())
            .max_by(|&a, &b| {
                let length = |i: usize| lengths[i] / cells[i] as f64;
                // Of equals the first.
                length(a).total_cmp(&length(b)).then(b.cmp(&a))
            })
            .unwrap_or(0);
        cells[longest] += 1;
    }
    let mut places = Vec::with_capacity(rows);
    for (ends, &n) in corners.windows(2).zip(&cells) {
        places.extend((0..n).map(|i| between(ends[0], ends[1], i as f64 / n as f64)));
    }
    places.extend(corners.last());
    Ok(places)
}

fn evenly(corners: &[[f64; 3]], lengths: &[f64], total: f64, rows: usize) -> Vec<[f64; 3]> {
    let mut segment = 0;
    let mut behind = 0.0;
    let place = |row: usize| {
        let at = total * row as f64 / (rows - 1) as f64;
        while segment + 1 < lengths.len() && behind + lengths[segment] < at {
            behind += lengths[segment];
            segment += 1;
        }
        let s = ((at - behind) / lengths[segment]).clamp(0.0, 1.0);
        between(corners[segment], corners[segment + 1], s)
    };
    (0..rows).map(place).collect()
}

fn between(a: [f64; 3], b: [f64; 3], s: f64) -> [f64; 3] {
    [0, 1, 2].map(|c| a[c] + s * (b[c] - a[c]))
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    [0, 1, 2].map(|c| (b[c] - a[c]) * (b[c] - a[c])).iter().sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_kept_and_spacing_is_even() {
        let corner = [[0.0; 3], [2.0, 0.0, 0.0], [2.0, 1.0, 0.0]];
        let places = resample(&corner, false, 7).unwrap();
        assert_eq!(places.len(), 7);
        assert!(places.contains(&corner[1]) && places[6] == corner[2], "{places:?}");
        assert!(
            places.windows(2).all(|w| (distance(w[0], w[1]) - 0.5).abs() < 1e-12),
            "{places:?}"
        );
        let closed = resample(&corner, true, 40).unwrap();
        assert_eq!((closed[0], closed[39]), (corner[0], corner[0]));
    }

    #[test]
    fn fewer_rows_than_corners_are_spread_by_length() {
        let zigzag: Vec<_> = (0..11).map(|i| [f64::from(i), f64::from(i % 2), 0.0]).collect();
        let places = resample(&zigzag, false, 3).unwrap();
        assert_eq!(places[0], zigzag[0]);
        assert!((places[1][0] - 5.0).abs() < 1e-12 && places[2] == zigzag[10], "{places:?}");
    }

    #[test]
    fn a_keyed_line_moves() {
        let line = |x: f64, at: f64| SeedLine {
            points: vec![[x, 0.0, 0.0], [x, 1.0, 0.0]],
            closed: false,
            at,
        };
        let seeds = Seeds::new(&[line(3.0, 2.0), line(1.0, 0.0)], &[], 3).unwrap();
        let x = |t: f64| seeds.at(t)[1][0];
        assert_eq!([x(-1.0), x(0.0), x(0.5), x(2.0), x(9.0)], [1.0, 1.0, 1.5, 3.0, 3.0]);
    }

    #[test]
    fn parts_follow_the_line_and_patches_have_their_corners() {
        let line = SeedLine { points: vec![[0.0; 3], [0.0, 1.0, 0.0]], ..SeedLine::default() };
        let other = vec![[5.0, 0.0, 0.0], [5.0, 2.0, 0.0]];
        let seeds = Seeds::new(&[line], &[other], 3).unwrap();
        assert_eq!((seeds.rows(), seeds.rows_of_part()), (6, 3));
        assert_eq!(seeds.at(7.0)[3..], [[5.0, 0.0, 0.0], [5.0, 1.0, 0.0], [5.0, 2.0, 0.0]]);
        let corners = [[0.0; 3], [0.0, 1.0, 0.0], [2.0, 1.0, 0.0], [2.0, 0.0, 0.0]];
        let columns = patch(&corners, 5, 3).unwrap();
        assert_eq!([columns[0][0], columns[0][2], columns[4][2], columns[4][0]], corners);
        assert_eq!(columns[1][1], [0.5, 0.5, 0.0]);
    }

    #[test]
    fn what_is_no_line_is_refused() {
        assert_eq!(resample(&[[1.0; 3], [1.0; 3]], false, 5), Err(BadSeed::TooShort));
        assert_eq!(resample(&[[1.0; 3]], true, 5), Err(BadSeed::TooShort));
        assert_eq!(resample(&[[f64::NAN; 3]], false, 5), Err(BadSeed::NotFinite { point: 0 }));
        assert_eq!(resample(&[[0.0; 3], [1.0; 3]], false, 1), Err(BadSeed::Rows { rows: 1 }));
        assert_eq!(Seeds::new(&[], &[], 3), Err(BadSeed::TooShort));
        assert_eq!(patch(&[[0.0; 3]; 3], 4, 4), Err(BadSeed::NoPatch { corners: 3 }));
    }
}
