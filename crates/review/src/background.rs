//! Whether the terminal's background is dark.

use std::time::Duration;

use terminal_colorsaurus::{Color, QueryOptions, color_palette};

/// How long a terminal may take to say which background it has.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(200);

/// The luminance that looks half as bright as white: L* is 50.
const MIDDLE: f64 = 0.184_186_518_512_4;

/// Asks the terminal. One that does not say has a dark background.
pub fn is_dark() -> bool {
    let mut options = QueryOptions::default();
    options.timeout = ANSWER_TIMEOUT;
    color_palette(options).map_or(true, |palette| {
        is_darker(
            luminance(&palette.background),
            luminance(&palette.foreground),
        )
    })
}

/// Whether a background is dark, seen beside its foreground.
fn is_darker(background: f64, foreground: f64) -> bool {
    background < foreground || (background == foreground && background <= MIDDLE)
}

/// How much light a colour of sRGB gives, from 0 to 1.
///
/// The crate that asks the terminal could tell, but with `powf`. That alone would make every command
/// load the system's library of mathematics at its start.
fn luminance(color: &Color) -> f64 {
    0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b)
}

/// One channel without its gamma.
fn linear(channel: u16) -> f64 {
    let value = f64::from(channel) / f64::from(u16::MAX);
    if value <= 0.04045 {
        return value / 12.92;
    }
    // To the power of 2.4.
    let base = (value + 0.055) / 1.055;
    base * base * fifth_root(base * base)
}

/// The fifth root of a number from 0.008 to 1, by Newton's method.
fn fifth_root(number: f64) -> f64 {
    // Ten steps from the far end of that range are enough for every digit.
    (0..10).fold(1.0, |root: f64, _| {
        root - (root - number / (root * root * root * root)) / 5.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_root_is_exact_to_the_last_digits() {
        for number in [0.008_18, 0.05, 0.1, 0.25, 0.5, 0.9, 1.0] {
            let error = fifth_root(number) / f64::powf(number, 0.2) - 1.0;
            assert!(error.abs() < 1e-14, "{number}: off by {error}");
        }
    }

    #[test]
    fn colours_are_ordered_as_they_are_perceived() {
        let steps = || (0..=u16::MAX).step_by(usize::from(u16::MAX) / 15);
        let mut colors = Vec::new();
        for (r, g, b) in
            steps().flat_map(|r| steps().flat_map(move |g| steps().map(move |b| (r, g, b))))
        {
            let color = Color::rgb(r, g, b);
            colors.push((color.perceived_lightness(), luminance(&color), color));
        }
        assert_eq!(colors.len(), 4096);
        colors.sort_by(|one, other| one.0.total_cmp(&other.0));
        for pair in colors.windows(2) {
            let [(darker, less, one), (lighter, more, other)] = pair else {
                unreachable!("windows of two");
            };
            // The lightness has the precision of an `f32`.
            assert!(
                less < more || lighter - darker < 1e-5,
                "{one:?} {darker} {less}, {other:?} {lighter} {more}"
            );
        }
    }

    #[test]
    fn without_contrast_the_middle_decides() {
        for grey in 0..=u16::MAX {
            let color = Color::rgb(grey, grey, grey);
            let lightness = color.perceived_lightness();
            let luminance = luminance(&color);
            assert!(
                is_darker(luminance, luminance) == (lightness <= 0.5)
                    || (lightness - 0.5).abs() < 1e-5,
                "{grey}: {lightness}, {luminance}"
            );
        }
    }

    #[test]
    fn the_foreground_decides_first() {
        let [black, grey, white] =
            [0, 0x8000, u16::MAX].map(|channel| luminance(&Color::rgb(channel, channel, channel)));
        assert!(is_darker(black, white) && is_darker(black, grey) && is_darker(grey, white));
        assert!(!is_darker(white, black) && !is_darker(grey, black) && !is_darker(white, grey));
        assert!(is_darker(black, black) && !is_darker(white, white));
    }
}
