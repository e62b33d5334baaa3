//! What was done to elements before they were compressed, undone.

use super::Filter;

/// Undoes a filter, in place.
pub(super) fn undo(filter: Filter, bytes: &mut [u8], stride: usize) {
    match (filter, stride) {
        (Filter::None, _) => {}
        (Filter::Octahedral, 4) => {
            each::<4>(bytes, |b| {
                octahedral(b.map(|x| f32::from(x as i8)), 127.0).map(|x| x as i8 as u8)
            });
        }
        (Filter::Octahedral, _) => {
            wide(bytes, |v| octahedral(v.map(f32::from), 32767.0).map(|x| x as i16));
        }
        (Filter::Quaternion, _) => wide(bytes, quaternion),
        (Filter::Exponential, _) => each::<4>(bytes, |b| exponential(b).to_le_bytes()),
        (Filter::Color, 4) => {
            each::<4>(bytes, |[y, o, g, a]| {
                color([i32::from(y), i32::from(o as i8), i32::from(g as i8), i32::from(a)], 255.0)
                    .map(|x| x as u8)
            });
        }
        (Filter::Color, _) => wide(bytes, |[y, o, g, a]| {
            let unsigned = |x: i16| i32::from(x as u16);
            color([unsigned(y), i32::from(o), i32::from(g), unsigned(a)], 65535.0)
                .map(|x| x as u16 as i16)
        }),
    }
}

fn each<const N: usize>(bytes: &mut [u8], of: impl Fn([u8; N]) -> [u8; N]) {
    for chunk in bytes.as_chunks_mut::<N>().0 {
        *chunk = of(*chunk);
    }
}

/// Four numbers of 16 bits.
fn wide(bytes: &mut [u8], of: impl Fn([i16; 4]) -> [i16; 4]) {
    each::<8>(bytes, |b| {
        let of = of([0, 2, 4, 6].map(|k| i16::from_le_bytes([b[k], b[k + 1]])));
        let [p, q, r, s] = of.map(i16::to_le_bytes);
        [p[0], p[1], q[0], q[1], r[0], r[1], s[0], s[1]]
    });
}

/// A direction from two sides of an octahedron; the third number is 1 in their units, the fourth stays.
fn octahedral([x, y, one, rest]: [f32; 4], most: f32) -> [f32; 4] {
    let (x, y) = (x / one, y / one);
    let z = 1.0 - x.abs() - y.abs();
    let fold = z.min(0.0);
    let (x, y) = (x + fold.copysign(-x), y + fold.copysign(-y));
    let scale = most / (x * x + y * y + z * z).sqrt();
    [(x * scale).round(), (y * scale).round(), (z * scale).round(), rest]
}

/// A unit quaternion from all but its largest component, times √2; the last number is 1 in their units, but for its
/// two lowest bits, which say which component is missing.
fn quaternion([x, y, z, units]: [i16; 4]) -> [i16; 4] {
    let scale = std::f32::consts::FRAC_1_SQRT_2 / f32::from(units | 3);
    let [x, y, z] = [x, y, z].map(|v| f32::from(v) * scale);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let largest = usize::from(units as u16 & 3);
    let mut whole = [0; 4];
    for (k, v) in [w, x, y, z].into_iter().enumerate() {
        whole[(largest + k) % 4] = (v * 32767.0).round() as i16;
    }
    whole
}

/// 24 bits times two to the power of the other 8.
fn exponential(bytes: [u8; 4]) -> f32 {
    let word = i32::from_le_bytes(bytes);
    let (mantissa, exponent) = ((word << 8) >> 8, word >> 24);
    // A power of two in 64 bits is exact, and so is its product with 24 bits.
    let power = f64::from_bits(((1023 + i64::from(exponent)) as u64) << 52);
    (f64::from(mantissa) * power) as f32
}

/// Red, green and blue from lightness and two differences; the highest bit of alpha says how many bits they have.
fn color([y, o, g, a]: [i32; 4], most: f32) -> [f32; 4] {
    let units = if a > 0 { (2 << a.ilog2()) - 1 } else { 1 };
    let low = a & (units >> 1);
    let alpha = (low << 1) | (low & 1);
    [y + o - g, y + g, y - o - g, alpha].map(|v| (v as f32 * most / units as f32).round())
}
