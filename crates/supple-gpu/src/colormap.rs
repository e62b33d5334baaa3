//! Colours for numbers.
//!
//! Maps are interpolated between a few anchor colours in a perceptual space (Oklab), so that equal
//! steps of the value look like equal steps. The sequential map runs from violet through blue, teal
//! and green to yellow, lighter all the way (as viridis does, but it does not start as dark: colours
//! on a lit body are darker than in a legend, and its shape must be seen). The diverging one runs from
//! blue through a light grey to red with equal lightness on both sides.
//!
//! # References
//!
//! - B. Ottosson. A perceptual color space for image processing, 2020.
//! - K. Moreland. Diverging Color Maps for Scientific Visualization. ISVC, 2009.

use glam::Vec3;

/// How numbers become colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colormap {
    /// Violet to yellow, for amounts.
    #[default]
    Sequential,
    /// Blue to red through light grey, for signed values.
    Diverging,
    /// White to deep red, for errors and differences: zero is not loud.
    Heat,
}

/// Every map, in the order of the rows of [`table`].
pub(crate) const ALL: [Colormap; 3] = [Colormap::Sequential, Colormap::Diverging, Colormap::Heat];

/// Entries of a row of [`table`].
pub(crate) const ENTRIES: usize = 256;

impl Colormap {
    /// The anchor colours, sRGB, evenly spaced.
    fn anchors(self) -> &'static [[u8; 3]] {
        match self {
            Self::Sequential => &[
                [94, 82, 166],
                [74, 120, 188],
                [52, 154, 186],
                [54, 184, 158],
                [116, 206, 108],
                [188, 222, 72],
                [252, 232, 64],
            ],
            Self::Diverging => &[
                [32, 72, 168],
                [92, 136, 214],
                [164, 190, 232],
                [228, 226, 222],
                [236, 172, 146],
                [214, 96, 78],
                [158, 20, 46],
            ],
            Self::Heat => {
                &[[240, 238, 232], [250, 214, 150], [244, 150, 82], [214, 74, 56], [132, 14, 48]]
            }
        }
    }

    /// The colour at `t` from 0 to 1, sRGB.
    #[must_use]
    pub fn srgb(self, t: f32) -> [u8; 3] {
        let anchors = self.anchors();
        let at = t.clamp(0.0, 1.0) * (anchors.len() - 1) as f32;
        let i = (at as usize).min(anchors.len() - 2);
        let lab = |c: [u8; 3]| oklab_from_linear(Vec3::from(c.map(linear_from_srgb)));
        let mixed = lab(anchors[i]).lerp(lab(anchors[i + 1]), at - i as f32);
        linear_from_oklab(mixed).to_array().map(srgb_from_linear)
    }

    /// Which row of [`table`] this map is.
    pub(crate) fn row(self) -> usize {
        ALL.iter().position(|&m| m == self).unwrap_or(0)
    }
}

/// All maps as RGBA8 sRGB rows of [`ENTRIES`].
pub(crate) fn table() -> Vec<u8> {
    let mut texels = Vec::with_capacity(4 * ENTRIES * ALL.len());
    for map in ALL {
        for i in 0..ENTRIES {
            let [r, g, b] = map.srgb(i as f32 / (ENTRIES - 1) as f32);
            texels.extend([r, g, b, 255]);
        }
    }
    texels
}

/// Linear light of an sRGB byte.
#[must_use]
pub fn linear_from_srgb(byte: u8) -> f32 {
    let c = f32::from(byte) / 255.0;
    if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// The sRGB byte of linear light; what is out of range is clamped.
#[must_use]
pub fn srgb_from_linear(light: f32) -> u8 {
    let c = light.clamp(0.0, 1.0);
    let encoded = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    (255.0 * encoded + 0.5) as u8
}

fn oklab_from_linear(c: Vec3) -> Vec3 {
    let l = Vec3::new(0.412_221_47, 0.536_332_55, 0.051_445_993).dot(c).cbrt();
    let m = Vec3::new(0.211_903_5, 0.680_699_5, 0.107_396_96).dot(c).cbrt();
    let s = Vec3::new(0.088_302_46, 0.281_718_85, 0.629_978_7).dot(c).cbrt();
    let lms = Vec3::new(l, m, s);
    Vec3::new(
        Vec3::new(0.210_454_26, 0.793_617_8, -0.004_072_047).dot(lms),
        Vec3::new(1.977_998_5, -2.428_592_2, 0.450_593_7).dot(lms),
        Vec3::new(0.025_904_037, 0.782_771_77, -0.808_675_77).dot(lms),
    )
}

fn linear_from_oklab(lab: Vec3) -> Vec3 {
    let l = lab.x + 0.396_337_78 * lab.y + 0.215_803_76 * lab.z;
    let m = lab.x - 0.105_561_346 * lab.y - 0.063_854_17 * lab.z;
    let s = lab.x - 0.089_484_18 * lab.y - 1.291_485_5 * lab.z;
    let lms = Vec3::new(l * l * l, m * m * m, s * s * s);
    Vec3::new(
        Vec3::new(4.076_741_7, -3.307_711_6, 0.230_969_94).dot(lms),
        Vec3::new(-1.268_438, 2.609_757_4, -0.341_319_4).dot(lms),
        Vec3::new(-0.004_196_086_3, -0.703_418_6, 1.707_614_7).dot(lms),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lightness(map: Colormap, t: f32) -> f32 {
        oklab_from_linear(Vec3::from(map.srgb(t).map(linear_from_srgb))).x
    }

    #[test]
    fn srgb_round_trips() {
        for byte in 0..=255 {
            assert_eq!(srgb_from_linear(linear_from_srgb(byte)), byte);
        }
    }

    #[test]
    fn oklab_round_trips() {
        let c = Vec3::new(0.2, 0.5, 0.9);
        let back = linear_from_oklab(oklab_from_linear(c));
        assert!(back.abs_diff_eq(c, 1e-4), "{back}");
    }

    #[test]
    fn amounts_get_lighter_all_the_way() {
        let steps: Vec<f32> =
            (0..=64).map(|i| lightness(Colormap::Sequential, i as f32 / 64.0)).collect();
        assert!(steps.windows(2).all(|w| w[1] > w[0]), "{steps:?}");
    }

    #[test]
    fn the_diverging_map_is_balanced() {
        for i in 0..=16 {
            let t = i as f32 / 32.0;
            let (cold, warm) =
                (lightness(Colormap::Diverging, t), lightness(Colormap::Diverging, 1.0 - t));
            assert!((cold - warm).abs() < 0.07, "at {t}: {cold} and {warm}");
        }
    }
}
