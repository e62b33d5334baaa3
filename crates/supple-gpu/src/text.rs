//! Words on a picture.

use std::sync::OnceLock;

use ab_glyph::{Font as _, FontRef, Glyph, PxScale, ScaleFont as _, point};

use crate::picture::Image;

/// How words look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Height of a line, in pixels.
    pub size_px: f32,
    /// sRGB with alpha.
    pub color: [u8; 4],
    /// A soft edge of this colour around the letters keeps them readable on anything.
    pub halo: Option<[u8; 4]>,
}

impl Style {
    /// Dark letters with a light edge, of a size that suits the picture.
    #[must_use]
    pub fn for_picture(image: &Image) -> Self {
        let size_px = (image.height as f32 / 32.0).clamp(12.0, 72.0);
        Self { size_px, color: [34, 36, 42, 255], halo: Some([255, 255, 255, 150]) }
    }
}

fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| {
        FontRef::try_from_slice(epaint_default_fonts::UBUNTU_LIGHT)
            .expect("the font is part of the program")
    })
}

/// Width and height of the words, in pixels.
#[must_use]
pub fn size(text: &str, size_px: f32) -> [f32; 2] {
    let (_, [width, height]) = layout(text, size_px);
    [width, height]
}

/// The glyphs of the words with the top left at the origin, and the size of the whole.
fn layout(text: &str, size_px: f32) -> (Vec<Glyph>, [f32; 2]) {
    let font = font().as_scaled(PxScale::from(size_px));
    let line_height = font.height() + font.line_gap();
    let (mut glyphs, mut width, mut y) = (Vec::new(), 0.0_f32, font.ascent());
    for line in text.lines() {
        let (mut x, mut last) = (0.0, None);
        for c in line.chars() {
            let id = font.glyph_id(c);
            if let Some(last) = last {
                x += font.kern(last, id);
            }
            glyphs.push(id.with_scale_and_position(font.scale(), point(x, y)));
            x += font.h_advance(id);
            last = Some(id);
        }
        width = width.max(x);
        y += line_height;
    }
    let lines = text.lines().count() as f32;
    (glyphs, [width, lines * line_height])
}

/// Writes words with their top left at `(x, y)`, in pixels.
pub fn draw(image: &mut Image, text: &str, [x, y]: [f32; 2], style: &Style) {
    let (glyphs, [width, height]) = layout(text, style.size_px);
    let edge = (style.size_px / 7.0).clamp(2.0, 6.0);
    let left = (x - edge).floor() as i64;
    let top = (y - edge).floor() as i64;
    let cols = (width + 2.0 * edge).ceil() as usize + 2;
    let rows = (height + 2.0 * edge).ceil() as usize + 2;
    let mut cover = vec![0.0_f32; cols * rows];
    for mut glyph in glyphs {
        glyph.position.x += x - left as f32;
        glyph.position.y += y - top as f32;
        let Some(outline) = font().outline_glyph(glyph) else { continue };
        let bounds = outline.px_bounds();
        outline.draw(|gx, gy, c| {
            let (cx, cy) =
                (i64::from(gx) + bounds.min.x as i64, i64::from(gy) + bounds.min.y as i64);
            if (0..cols as i64).contains(&cx) && (0..rows as i64).contains(&cy) {
                let at = &mut cover[cy as usize * cols + cx as usize];
                *at = (*at + c).min(1.0);
            }
        });
    }
    if let Some(halo) = style.halo {
        blend_cover(image, &spread(&cover, cols, edge), cols, [left, top], halo);
    }
    blend_cover(image, &cover, cols, [left, top], style.color);
}

fn blend_cover(
    image: &mut Image,
    cover: &[f32],
    cols: usize,
    [left, top]: [i64; 2],
    color: [u8; 4],
) {
    for (i, &c) in cover.iter().enumerate().filter(|&(_, &c)| c > 0.0) {
        let alpha = (f32::from(color[3]) * c.min(1.0) + 0.5) as u8;
        let at = [left + (i % cols) as i64, top + (i / cols) as i64];
        image.blend(at[0], at[1], [color[0], color[1], color[2], alpha]);
    }
}

/// The cover grown by about `reach` pixels with a soft edge: two box blurs, made stronger.
fn spread(cover: &[f32], cols: usize, reach: f32) -> Vec<f32> {
    let r = (0.5 * reach).round().max(1.0) as i64;
    let rows = cover.len() / cols;
    let mut now = cover.to_vec();
    for _ in 0..2 {
        for (dx, dy) in [(1, 0), (0, 1)] {
            let before = now.clone();
            for (i, value) in now.iter_mut().enumerate() {
                let (x, y) = ((i % cols) as i64, (i / cols) as i64);
                let sum: f32 = (-r..=r)
                    .map(|k| (x + k * dx, y + k * dy))
                    .filter(|&(px, py)| {
                        (0..cols as i64).contains(&px) && (0..rows as i64).contains(&py)
                    })
                    .map(|(px, py)| before[py as usize * cols + px as usize])
                    .sum();
                *value = sum / (2 * r + 1) as f32;
            }
        }
    }
    now.iter().map(|c| (3.5 * c).min(1.0)).collect()
}

/// A number with about four digits that mean something, without a tail of zeros: `0.25`, `1.2e-5`.
#[must_use]
pub fn number(value: f32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..6.0).contains(&magnitude) {
        let text = format!("{value:.2e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = digits.trim_end_matches('0').trim_end_matches('.');
        return format!("{digits}e{exponent}").replace('-', "\u{2212}");
    }
    let decimals = (3.0 - magnitude).clamp(0.0, 7.0) as usize;
    let text = format!("{value:.decimals$}");
    let short =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    short.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_inside_their_size() {
        let mut page = Image::filled(200, 60, [255; 4]);
        let style = Style { size_px: 24.0, color: [0, 0, 0, 255], halo: None };
        let [width, height] = size("Volume \u{2212}0.5 %", 24.0);
        draw(&mut page, "Volume \u{2212}0.5 %", [10.0, 10.0], &style);
        let inked: Vec<(u32, u32)> = (0..60)
            .flat_map(|y| (0..200).map(move |x| (x, y)))
            .filter(|&(x, y)| page.pixel(x, y)[0] < 128)
            .collect();
        assert!(inked.len() > 200, "{} dark pixels", inked.len());
        for (x, y) in inked {
            assert!(
                x as f32 <= 11.0 + width && y as f32 <= 11.0 + height && x >= 9 && y >= 9,
                "ink at {x}, {y}"
            );
        }
    }

    #[test]
    fn words_outside_the_picture_do_no_harm() {
        let mut page = Image::filled(10, 10, [255; 4]);
        let style = Style::for_picture(&page);
        draw(&mut page, "far\nout \u{1F600}", [-500.0, 900.0], &style);
        assert_eq!(page, Image::filled(10, 10, [255; 4]));
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (0.25, "0.25"),
            (-1.5, "\u{2212}1.5"),
            (1234.0, "1234"),
            (0.1, "0.1"),
            (1.2e-5, "1.2e\u{2212}5"),
            (3e7, "3e7"),
            (0.012_36, "0.01236"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
    }
}
