//! Legends and labels: what is written on a picture after it is taken.

use crate::colormap::Colormap;
use crate::picture::Image;
use crate::text::{self, Style};
use crate::view::{Edge, Label, LabelPlace, Scalars, View};

/// Writes the legends and labels of a view.
pub(crate) fn annotate(image: &mut Image, view: &View<'_>) {
    let style = Style::for_picture(image);
    for (i, field) in shown_fields(view).into_iter().enumerate() {
        draw_legend(image, field, i, &style);
    }
    // Labels at the same edge stand below each other.
    let mut used = [0.0_f32; 6];
    for label in &view.labels {
        let style =
            Style { size_px: label.size_px.unwrap_or(style.size_px).clamp(4.0, 400.0), ..style };
        let size = text::size(&label.text, style.size_px);
        let place = match label.place {
            LabelPlace::Edge(edge) => {
                let taken = &mut used[edge as usize];
                let place = at_edge(image, edge, size, *taken);
                *taken += size[1];
                Some(place)
            }
            LabelPlace::At(point) => beside(view, point, style.size_px),
        };
        if let Some(place) = place {
            text::draw(image, &label.text, place, &style);
        }
    }
}

/// The fields that have a legend, each name and range once.
fn shown_fields<'v>(view: &'v View<'_>) -> Vec<&'v Scalars<'v>> {
    let mut shown: Vec<&Scalars<'_>> = Vec::new();
    for field in view.bodies.iter().filter_map(|b| b.field.as_ref()).filter(|f| f.legend) {
        let same = |other: &&Scalars<'_>| {
            other.name == field.name && other.shown_range() == field.shown_range()
        };
        if !shown.iter().any(same) {
            shown.push(field);
        }
    }
    shown
}

fn at_edge(image: &Image, edge: Edge, [width, height]: [f32; 2], taken: f32) -> [f32; 2] {
    let (w, h) = (image.width as f32, image.height as f32);
    let margin = 0.03 * h;
    let (left, middle, right) = (margin, 0.5 * (w - width), w - margin - width);
    let (top, bottom) = (margin + taken, h - margin - height - taken);
    match edge {
        Edge::TopLeft => [left, top],
        Edge::Top => [middle, top],
        Edge::TopRight => [right, top],
        Edge::BottomLeft => [left, bottom],
        Edge::Bottom => [middle, bottom],
        Edge::BottomRight => [right, bottom],
    }
}

fn beside(view: &View<'_>, point: glam::Vec3, size_px: f32) -> Option<[f32; 2]> {
    let (pixel, _) = view.camera.pixel_of(point, view.size)?;
    Some([pixel.x + 0.5 * size_px, pixel.y - 0.6 * size_px])
}

/// A bar of colours with numbers at the right of the picture; further ones to the left of it.
fn draw_legend(image: &mut Image, field: &Scalars<'_>, index: usize, style: &Style) {
    let (w, h) = (image.width as f32, image.height as f32);
    let small = Style { size_px: 0.85 * style.size_px, ..*style };
    let [lo, hi] = field.shown_range();
    let ticks = ticks(lo, hi);
    let widest =
        ticks.iter().map(|&t| text::size(&text::number(t), small.size_px)[0]).fold(0.0, f32::max);
    let bar_width = (0.022 * h).max(6.0);
    let column = bar_width + widest + 2.2 * small.size_px;
    let (top, bottom) = (0.3 * h, 0.88 * h);
    let x = w - column * (index + 1) as f32;
    draw_bar(image, field.shown_colormap(), [x, top, x + bar_width, bottom]);
    for t in ticks {
        let y = bottom - (t - lo) / (hi - lo) * (bottom - top);
        let line_height = text::size("0", small.size_px)[1];
        for px in 0..(0.35 * small.size_px) as i64 {
            image.blend((x + bar_width) as i64 + px, y.round() as i64, small.color);
        }
        text::draw(
            image,
            &text::number(t),
            [x + bar_width + 0.55 * small.size_px, y - 0.5 * line_height],
            &small,
        );
    }
    let [name_width, name_height] = text::size(&field.name, small.size_px);
    let name_x = (x + bar_width - 0.5 * name_width).min(w - name_width - 0.03 * h).max(0.02 * h);
    text::draw(image, &field.name, [name_x, top - 1.5 * name_height], &small);
}

fn draw_bar(image: &mut Image, map: Colormap, [left, top, right, bottom]: [f32; 4]) {
    let frame = [60, 62, 68, 255];
    for y in top as i64 - 1..=bottom as i64 + 1 {
        let [r, g, b] = map.srgb((bottom - y as f32) / (bottom - top));
        for x in left as i64 - 1..=right as i64 + 1 {
            let inside =
                x >= left as i64 && x <= right as i64 && y >= top as i64 && y <= bottom as i64;
            image.blend(x, y, if inside { [r, g, b, 255] } else { frame });
        }
    }
}

/// Round numbers within the range, about five of them.
fn ticks(lo: f32, hi: f32) -> Vec<f32> {
    let (lo, hi) = (f64::from(lo), f64::from(hi));
    let rough = (hi - lo) / 5.0;
    if !(rough > 0.0 && rough.is_finite()) {
        return Vec::new();
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|m| m * power)
        .into_iter()
        .find(|&s| s >= rough * 0.999)
        .unwrap_or(power);
    let first = (lo / step - 1e-6).ceil() as i64;
    let last = (hi / step + 1e-6).floor() as i64;
    (first..=last).take(16).map(|i| (i as f64 * step) as f32).collect()
}

/// Writes a caption at the top left of a picture, such as the name of a panel.
pub(crate) fn caption(image: &mut Image, words: &str) {
    let style = Style::for_picture(image);
    let place = at_edge(image, Edge::TopLeft, text::size(words, style.size_px), 0.0);
    text::draw(image, words, place, &style);
}

impl Label {
    /// Words in the top left corner.
    #[must_use]
    pub fn title(text: impl Into<String>) -> Self {
        Self::edge(Edge::TopLeft, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks(-3.0, 3.0), [-2.0, 0.0, 2.0]);
        for (lo, hi) in [(0.013, 0.0145), (-1e9, 2e9), (7.0, 7.001), (1e-12, 2e-12)] {
            let all = ticks(lo, hi);
            assert!((2..=8).contains(&all.len()), "{all:?} in {lo} … {hi}");
            let slack = 1e-5 * (hi - lo) + f32::EPSILON * hi.abs();
            assert!(all.iter().all(|&t| t >= lo - slack && t <= hi + slack), "{all:?}");
        }
        assert!(
            ticks(1.0, 1.0).is_empty() && ticks(0.0, f32::INFINITY).is_empty(),
            "nothing to mark"
        );
    }
}
