//! Several pictures on one page: contact sheets, and two side by side.

use crate::legend::caption;
use crate::picture::Image;

/// Space between pictures, in pixels.
const GAP: u32 = 4;

/// The page between the pictures.
const PAPER: [u8; 4] = [255, 255, 255, 255];

/// Pictures in rows of `columns`, all in cells as large as the largest; `columns` 0 takes a number
/// that gives about the shape of one picture.
#[must_use]
pub fn contact_sheet(pictures: &[Image], columns: u32) -> Image {
    let columns = if columns == 0 { (pictures.len() as f32).sqrt().ceil() as u32 } else { columns };
    let columns = columns.clamp(1, (pictures.len() as u32).max(1));
    let rows = (pictures.len() as u32).div_ceil(columns);
    let cell = |side: fn(&Image) -> u32| pictures.iter().map(side).max().unwrap_or(0);
    let (width, height) = (cell(|p| p.width), cell(|p| p.height));
    let total = |n: u32, side: u32| n * side + n.saturating_sub(1) * GAP;
    let mut page = Image::filled(total(columns, width), total(rows, height), PAPER);
    for (i, picture) in pictures.iter().enumerate() {
        let (column, row) = (i as u32 % columns, i as u32 / columns);
        page.paste(picture, column * (width + GAP), row * (height + GAP));
    }
    page
}

/// Pictures in one row, each with a caption in its corner.
#[must_use]
pub fn side_by_side(pictures: &[(&str, &Image)]) -> Image {
    let captioned: Vec<Image> = pictures
        .iter()
        .map(|&(words, picture)| {
            let mut picture = picture.clone();
            caption(&mut picture, words);
            picture
        })
        .collect();
    contact_sheet(&captioned, captioned.len() as u32)
}

/// About `count` of `total` frames for a contact sheet: evenly spread, the first and the last among
/// them.
#[must_use]
pub fn spread_frames(total: usize, count: usize) -> Vec<usize> {
    if count == 0 || total == 0 {
        return Vec::new();
    }
    if count == 1 || total == 1 {
        return vec![0];
    }
    let count = count.min(total);
    (0..count).map(|i| i * (total - 1) / (count - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_do_not_overlap() {
        let colors = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]];
        let pictures: Vec<Image> = colors.iter().map(|&c| Image::filled(10, 6, c)).collect();
        let page = contact_sheet(&pictures, 2);
        assert_eq!((page.width, page.height), (24, 16));
        for color in colors {
            let count = page.rgba.chunks(4).filter(|p| **p == color).count();
            assert_eq!(count, 60);
        }
        assert_eq!(page.pixel(20, 12), PAPER);
    }

    #[test]
    fn an_empty_sheet_is_an_empty_picture() {
        let page = contact_sheet(&[], 0);
        assert_eq!((page.width, page.height), (0, 0));
    }

    #[test]
    fn frames_are_spread_evenly() {
        assert_eq!(spread_frames(61, 5), [0, 15, 30, 45, 60]);
        assert_eq!(spread_frames(3, 9), [0, 1, 2]);
        assert_eq!(spread_frames(0, 4), Vec::<usize>::new());
    }
}
