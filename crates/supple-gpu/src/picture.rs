//! Finished pictures: pixels in memory.

/// A picture: sRGB with straight alpha, row after row from the top left.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue, alpha of every pixel.
    pub rgba: Vec<u8>,
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({} × {})", self.width, self.height)
    }
}

impl Image {
    /// A picture of one colour.
    #[must_use]
    pub fn filled(width: u32, height: u32, color: [u8; 4]) -> Self {
        Self { width, height, rgba: color.repeat(width as usize * height as usize) }
    }

    /// The colour of a pixel.
    ///
    /// # Panics
    ///
    /// If the pixel is outside the picture.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        assert!(x < self.width && y < self.height, "({x}, {y}) is outside {self:?}");
        let at = 4 * (y as usize * self.width as usize + x as usize);
        [self.rgba[at], self.rgba[at + 1], self.rgba[at + 2], self.rgba[at + 3]]
    }

    /// Covers a pixel with `color` (sRGB, straight alpha) to the extent of its alpha; outside the
    /// picture nothing happens.
    pub fn blend(&mut self, x: i64, y: i64, color: [u8; 4]) {
        if x < 0 || y < 0 || x >= i64::from(self.width) || y >= i64::from(self.height) {
            return;
        }
        let at = 4 * (y as usize * self.width as usize + x as usize);
        let under = &mut self.rgba[at..at + 4];
        let a = f32::from(color[3]) / 255.0;
        let below = f32::from(under[3]) / 255.0 * (1.0 - a);
        let covered = a + below;
        if covered <= 0.0 {
            return;
        }
        for c in 0..3 {
            let mixed = (f32::from(color[c]) * a + f32::from(under[c]) * below) / covered;
            under[c] = (mixed + 0.5) as u8;
        }
        under[3] = (255.0 * covered + 0.5) as u8;
    }

    /// Puts another picture on top with its top left at `(x, y)`; what sticks out is cut off.
    pub fn paste(&mut self, other: &Self, x: u32, y: u32) {
        let width = other.width.min(self.width.saturating_sub(x)) as usize;
        let height = other.height.min(self.height.saturating_sub(y)) as usize;
        for row in 0..height {
            let from = 4 * row * other.width as usize;
            let to = 4 * ((y as usize + row) * self.width as usize + x as usize);
            self.rgba[to..to + 4 * width].copy_from_slice(&other.rgba[from..from + 4 * width]);
        }
    }

    /// The picture shrunk so that it fits into `width` × `height`, each pixel the mean of those it
    /// covers; a picture that fits already is returned as it is.
    #[must_use]
    pub fn shrunk_to_fit(&self, width: u32, height: u32) -> Self {
        let scale = (width as f32 / self.width as f32).min(height as f32 / self.height as f32);
        if scale >= 1.0 || self.rgba.is_empty() {
            return self.clone();
        }
        let side = |n: u32| ((n as f32 * scale).round() as u32).max(1);
        let (w, h) = (side(self.width), side(self.height));
        let pixels = self.rgba.clone();
        let Some(source) = image::RgbaImage::from_raw(self.width, self.height, pixels) else {
            return self.clone();
        };
        let small = image::imageops::resize(&source, w, h, image::imageops::FilterType::CatmullRom);
        Self { width: w, height: h, rgba: small.into_raw() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pasting_cuts_what_sticks_out() {
        let mut page = Image::filled(4, 3, [0, 0, 0, 255]);
        page.paste(&Image::filled(3, 3, [255; 4]), 2, 1);
        let white = page.rgba.chunks(4).filter(|p| p[0] == 255).count();
        assert_eq!((white, page.pixel(1, 1)[0], page.pixel(3, 2)[0]), (4, 0, 255));
        page.paste(&Image::filled(1, 1, [9; 4]), 8, 8);
    }

    #[test]
    fn blending_half_covers() {
        let mut page = Image::filled(1, 1, [0, 0, 0, 255]);
        page.blend(0, 0, [200, 100, 0, 128]);
        assert_eq!(page.pixel(0, 0), [100, 50, 0, 255]);
        page.blend(-1, 7, [9; 4]);
    }

    #[test]
    fn shrinking_keeps_the_mean() {
        let mut page = Image::filled(8, 4, [0, 0, 0, 255]);
        page.paste(&Image::filled(4, 4, [200, 200, 200, 255]), 0, 0);
        let small = page.shrunk_to_fit(4, 4);
        assert_eq!((small.width, small.height), (4, 2));
        let mean = small.rgba.chunks(4).map(|p| u32::from(p[0])).sum::<u32>() / 8;
        assert!((95..=105).contains(&mean), "mean {mean}");
    }
}
