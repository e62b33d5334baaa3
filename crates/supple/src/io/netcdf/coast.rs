//! Coasts of grids that have both components at the same points.
//!
//! # Method
//!
//! Points without a value are land. Those beside the sea become the coast: the component towards the sea is zero, the
//! one along the coast is that of the sea beside. Between two points of the coast nothing crosses the line
//! that joins them, and smoke slips along it. Land behind the coast stays outside.
//!
//! In files that know no missing values, points whose components are all exactly zero are land.

/// Makes the flow slip along the coast, in each layer. Returns whether there is one.
pub(super) fn slip(u: &mut [f32], v: &mut [f32], [nx, ny]: [usize; 2]) -> bool {
    let knows_missing = u.iter().chain(v.iter()).any(|x| x.is_nan());
    let moves = u.iter().chain(v.iter()).any(|x| *x != 0.0 && !x.is_nan());
    if !moves {
        return false;
    }
    let layer = nx * ny;
    let mut found = false;
    for (u, v) in u.chunks_exact_mut(layer).zip(v.chunks_exact_mut(layer)) {
        let is_land = |i: usize| {
            u[i].is_nan() || v[i].is_nan() || !knows_missing && u[i] == 0.0 && v[i] == 0.0
        };
        let land: Vec<bool> = (0..layer).map(is_land).collect();
        let here = (u.to_vec(), v.to_vec());
        found |= land.contains(&true);
        for at in (0..layer).filter(|&at| land[at]) {
            let (i, j) = ((at % nx) as isize, (at / nx) as isize);
            let sea = |di: isize, dj: isize| {
                let (i, j) = (i + di, j + dj);
                let inside = i >= 0 && j >= 0 && i < nx as isize && j < ny as isize;
                let at = (j * nx as isize + i) as usize;
                (inside && !land[at]).then_some(at)
            };
            let [west, east, south, north] = [sea(-1, 0), sea(1, 0), sea(0, -1), sea(0, 1)];
            let beside = west.or(east).or(south).or(north);
            let diagonal = sea(-1, -1).or(sea(1, -1)).or(sea(-1, 1)).or(sea(1, 1));
            if beside.or(diagonal).is_none() {
                (u[at], v[at]) = (f32::NAN, f32::NAN);
                continue;
            }
            // Along the coast what the sea has, towards it nothing.
            let along = |sides: [Option<usize>; 2], across: [Option<usize>; 2], from: &[f32]| {
                if across.iter().any(Option::is_some) {
                    return 0.0;
                }
                let values: Vec<f32> = sides.iter().flatten().map(|&k| from[k]).collect();
                values.iter().sum::<f32>() / values.len().max(1) as f32
            };
            u[at] = along([south, north], [west, east], &here.0);
            v[at] = along([west, east], [south, north], &here.1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flow_slips_along_a_coast_and_land_behind_it_is_outside() {
        // Three rows of sea above two of land; a flow along and towards the land.
        let sea = |row: usize| row >= 2;
        let field = |value: f32| -> Vec<f32> {
            (0..20).map(|i| if sea(i / 4) { value } else { f32::NAN }).collect()
        };
        let (mut u, mut v) = (field(1.0), field(-0.5));
        assert!(slip(&mut u, &mut v, [4, 5]));
        assert!(u[..4].iter().all(|x| x.is_nan()), "land behind the coast: {u:?}");
        assert_eq!((u[5], v[5]), (1.0, 0.0), "along the coast, not across it");
        assert_eq!((u[9], v[9]), (1.0, -0.5), "the sea as it was");
        // Zeros are land where nothing is missing.
        let zero =
            |x: &mut Vec<f32>| x.iter_mut().for_each(|x| *x = if x.is_nan() { 0.0 } else { *x });
        let (mut a, mut b) = (field(1.0), field(-0.5));
        zero(&mut a);
        zero(&mut b);
        assert!(slip(&mut a, &mut b, [4, 5]));
        assert_eq!((a[5], b[5], a[0].is_nan()), (1.0, 0.0, true));
        let (mut a, mut b) = (vec![0.0; 20], vec![0.0; 20]);
        assert!(!slip(&mut a, &mut b, [4, 5]), "a sea at rest has no coast");
    }
}
