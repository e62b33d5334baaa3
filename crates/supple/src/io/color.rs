//! Colours of the formats that store them as they appear on a screen.
//!
//! Meshes hold linear colour; OBJ, PLY, OFF and VTK files hold sRGB-coded colour, as Blender and
//! `MeshLab` read and write them. Alpha is the same in both.

use glam::Vec4;

/// Linear from coded.
fn decode(coded: f64) -> f64 {
    let c = coded.abs();
    let linear = if c <= 0.04045 { c / 12.92 } else { to_the_2_4((c + 0.055) / 1.055) };
    linear.copysign(coded)
}

/// `x` to the power 2.4, for `x` from 0.01: ten times as fast as the general power.
///
/// With `y = x²` that is `(y s²)²`, where `s` is one over the fifth root of `y`. Its Newton step
/// `s (6 − y s⁵) / 5` needs no division and squares the relative error, which is below 0.1 at the
/// start.
fn to_the_2_4(x: f64) -> f64 {
    /// Beyond it no colour is, and `y` could overflow.
    const LARGEST: f64 = 1e30;
    /// Six fifths of the exponent's bias, in the place of the exponent.
    const BIAS: u64 = (1023 << 52) / 5 * 6;
    if x.is_nan() || x > LARGEST {
        return libm::pow(x, 2.4);
    }
    let y = x * x;
    let mut s = f64::from_bits(BIAS - y.to_bits() / 5);
    for _ in 0..5 {
        let fourth = (s * s) * (s * s);
        s *= 1.2 - 0.2 * y * (s * fourth);
    }
    let root = y * s * s;
    root * root
}

/// Coded from linear.
fn encode(linear: f64) -> f64 {
    let c = linear.abs();
    let coded = if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * libm::pow(c, 1.0 / 2.4) - 0.055 };
    coded.copysign(linear)
}

/// The linear colour of a coded one.
pub(super) fn from_coded(coded: [f64; 4]) -> Vec4 {
    let [r, g, b] = [0, 1, 2].map(|k| decode(coded[k]) as f32);
    Vec4::new(r, g, b, coded[3] as f32)
}

/// The linear colour of coded bytes.
pub(super) fn from_bytes(bytes: [u8; 4]) -> Vec4 {
    from_coded(bytes.map(|b| f64::from(b) / 255.0))
}

/// Colours as near as bytes come: what most programs expect in a PLY file.
pub fn round_all(colors: &mut [Vec4]) {
    colors.iter_mut().for_each(|color| *color = rounded(*color));
}

/// The nearest colour that files can hold in bytes.
pub(crate) fn rounded(linear: Vec4) -> Vec4 {
    let byte = |coded: f64| (255.0 * coded).round().clamp(0.0, 255.0) as u8;
    from_bytes(to_coded(linear).map(byte))
}

/// Turns the numbers of a file into linear colours, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    /// What one is in the file: 255 for bytes.
    one: f64,
    /// The linear value of every byte, if the file has bytes.
    bytes: Vec<f32>,
    /// The last colour and what it became: neighbours are often alike.
    last: ([f64; 4], Vec4),
}

impl Decoder {
    /// For files in which full brightness is `one`.
    pub(super) fn new(one: f64) -> Self {
        let byte = |b: u8| decode(f64::from(b) / 255.0) as f32;
        let bytes = if one == 255.0 { (0..=255).map(byte).collect() } else { Vec::new() };
        Self { one, bytes, last: ([0.0; 4], Vec4::ZERO) }
    }

    /// The linear colour of numbers from 0 to one.
    pub(super) fn linear(&mut self, numbers: [f64; 4]) -> Vec4 {
        if numbers != self.last.0 {
            self.last = (numbers, self.linear_anew(numbers));
        }
        self.last.1
    }

    fn linear_anew(&self, numbers: [f64; 4]) -> Vec4 {
        let is_byte = |x: f64| (0.0..=255.0).contains(&x) && x.fract() == 0.0;
        if self.bytes.is_empty() || !numbers.into_iter().all(is_byte) {
            return from_coded(numbers.map(|x| x / self.one));
        }
        let [r, g, b] = [0, 1, 2].map(|k| self.bytes[numbers[k] as usize]);
        Vec4::new(r, g, b, (numbers[3] / 255.0) as f32)
    }
}

/// The coded colour that [`from_coded`] turns back into exactly `linear`: as few digits as do so.
pub(super) fn to_coded(linear: Vec4) -> [f64; 4] {
    let code = |linear: f32| {
        let coded = encode(f64::from(linear));
        let short = f64::from(coded as f32);
        if decode(short) as f32 == linear { short } else { coded }
    };
    [code(linear.x), code(linear.y), code(linear.z), f64::from(linear.w)]
}

/// The coded bytes that [`from_bytes`] turns back into exactly `linear`, if there are such.
pub(super) fn to_bytes(linear: Vec4) -> Option<[u8; 4]> {
    let bytes = to_coded(linear).map(|c| (c * 255.0).round() as u8);
    (from_bytes(bytes) == linear).then_some(bytes)
}

/// All colours as bytes, if that loses nothing.
pub(super) fn all_to_bytes(colors: &[Vec4]) -> Option<Vec<[u8; 4]>> {
    colors.iter().map(|&c| to_bytes(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_a_round_trip() {
        for b in 0..=255_u8 {
            let bytes = [b, 255 - b, b / 2, b];
            assert_eq!(to_bytes(from_bytes(bytes)), Some(bytes));
        }
    }

    #[test]
    fn the_quick_power_is_the_power() {
        for i in 0..200_000_u32 {
            let x = 0.01 + f64::from(i) * 1e-5;
            for x in [x, 1e5 * x, 1e29 * x] {
                let error = (to_the_2_4(x) / libm::pow(x, 2.4) - 1.0).abs();
                assert!(error < 1e-14, "off by {error} at {x}");
            }
        }
        assert!(to_the_2_4(f64::NAN).is_nan(), "nothing comes of nothing");
        assert!(to_the_2_4(f64::INFINITY).is_infinite(), "nor an end of no end");
    }

    #[test]
    fn the_decoder_agrees_with_the_plain_conversion() {
        let mut bytes = Decoder::new(255.0);
        let mut plain = Decoder::new(1.0);
        for b in (0..=255_u8).flat_map(|b| [b, b]) {
            let coded = [b, 255 - b, b / 2, b];
            assert_eq!(bytes.linear(coded.map(f64::from)), from_bytes(coded));
            let coded = coded.map(|c| f64::from(c) / 250.0);
            assert_eq!(plain.linear(coded), from_coded(coded));
        }
        assert_eq!(bytes.linear([1e3, -0.5, 3.5, 0.0]), {
            from_coded([1e3, -0.5, 3.5, 0.0].map(|x| x / 255.0))
        });
        assert_eq!(Decoder::new(1.0).linear([0.0; 4]), Vec4::ZERO);
    }

    #[test]
    fn linear_colours_survive_a_round_trip() {
        for i in 0..10_000_u32 {
            let c = i as f32 * 1.37e-4;
            let linear = Vec4::new(c, 0.5 * c, -c, c);
            assert_eq!(from_coded(to_coded(linear)), linear, "{c}");
        }
    }

    #[test]
    fn middle_grey_is_darker_than_it_looks() {
        let grey = from_coded([0.5, 0.5, 0.5, 1.0]);
        assert!((grey.x - 0.214_041).abs() < 1e-6, "{grey}");
        assert_eq!(to_bytes(Vec4::splat(0.3)), None);
    }
}
