//! The neighbours of a vertex in order around it.

/// The neighbours of a vertex.
#[derive(Default)]
pub(super) struct Fan {
    /// In order; where a fan ends and another begins, the vertex itself.
    pub(super) around: Vec<u32>,
    /// Whether the last comes before the first.
    pub(super) is_closed: bool,
}

/// The neighbours of each moving vertex.
pub(super) fn fans(place: &[u32], moving: usize, triangles: &[[u32; 3]]) -> Vec<Fan> {
    let mut sides: Vec<Vec<[u32; 2]>> = vec![Vec::new(); moving];
    for &[a, b, c] in triangles {
        for [apex, next, last] in [[a, b, c], [b, c, a], [c, a, b]] {
            if let Some(sides) = sides.get_mut(place[apex as usize] as usize) {
                sides.push([next, last]);
            }
        }
    }
    let mut apexes = vec![0; moving];
    for (i, &k) in (0..).zip(place) {
        if let Some(apex) = apexes.get_mut(k as usize) {
            *apex = i;
        }
    }
    sides.into_iter().zip(apexes).map(|(sides, apex)| Fan::new(sides, apex)).collect()
}

impl Fan {
    /// Strings the sides opposite of a vertex together.
    fn new(mut sides: Vec<[u32; 2]>, apex: u32) -> Self {
        let mut fan = Self::default();
        while !sides.is_empty() {
            // At a border begins what no other side leads to.
            let begins = |s: &[u32; 2]| sides.iter().all(|other| other[1] != s[0]);
            let start = sides.iter().position(begins).unwrap_or(0);
            let [first, mut end] = sides.swap_remove(start);
            if !fan.around.is_empty() {
                fan.around.push(apex);
            }
            fan.around.push(first);
            while let Some(next) = sides.iter().position(|s| s[0] == end) {
                fan.around.push(end);
                [_, end] = sides.swap_remove(next);
            }
            if end == first {
                fan.is_closed = !fan.around.contains(&apex) && sides.is_empty();
            } else {
                fan.around.push(end);
            }
        }
        fan
    }
}
