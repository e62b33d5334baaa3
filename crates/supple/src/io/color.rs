//! Colours of the formats that store them as they appear on a screen.
//!
//! Meshes hold linear colour; OBJ, PLY, OFF and VTK files hold sRGB-coded colour, as Blender and
//! `MeshLab` read and write them. Alpha is the same in both.

use glam::Vec4;

/// Linear from coded.
fn decode(coded: f64) -> f64 {
    let c = coded.abs();
    let linear = if c <= 0.04045 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) };
    linear.copysign(coded)
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
