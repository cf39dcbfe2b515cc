//! Screens of two terminals, one above the other, as one picture that moves: an SVG without scripts.

use std::fmt::Write as _;

use anstyle_svg::Term;
use anyhow::{Context, Result};
use pillion_testkit::Pane;

/// The space between the terminals.
const GAP: u32 = 8;

/// Screens as they follow each other.
#[derive(Debug, Default)]
pub struct Film {
    /// Each only once.
    screens: Vec<Screen>,
    shots: Vec<Shot>,
}

/// A terminal at a moment.
#[derive(Debug, PartialEq, Eq)]
struct Screen {
    svg: String,
    width: u32,
    height: u32,
}

#[derive(Debug)]
struct Shot {
    above: usize,
    below: usize,
    seconds: f64,
    /// Shown to who wants nothing to move.
    is_still: bool,
}

impl Film {
    /// Shows both terminals as they are now, for so long.
    pub fn shot(&mut self, above: &Pane, below: &Pane, seconds: f64) {
        self.take(above, below, seconds, false);
    }

    /// The same, and for those who want nothing to move it is the picture.
    pub fn still(&mut self, above: &Pane, below: &Pane, seconds: f64) {
        self.take(above, below, seconds, true);
    }

    fn take(&mut self, above: &Pane, below: &Pane, seconds: f64, is_still: bool) {
        let [above, below] = [above, below].map(|pane| {
            let screen = pane.screen_with_colours();
            let svg = Term::new().render_svg(&screen);
            self.keep(svg)
        });
        self.shots.push(Shot {
            above,
            below,
            seconds,
            is_still,
        });
    }

    fn keep(&mut self, svg: String) -> usize {
        if let Some(known) = self.screens.iter().position(|screen| screen.svg == svg) {
            return known;
        }
        let size = |name: &str| {
            let (_, value) = svg.split_once(&format!("{name}=\""))?;
            value.split_once("px\"")?.0.parse().ok()
        };
        let [width, height] = ["width", "height"].map(|name| size(name).unwrap_or_default());
        self.screens.push(Screen { svg, width, height });
        self.screens.len() - 1
    }

    /// The picture; `title` says what it shows.
    ///
    /// # Errors
    /// Without a shot.
    pub fn svg(&self, title: &str) -> Result<String> {
        let shown =
            |part: fn(&Shot) -> usize| self.shots.iter().map(move |shot| &self.screens[part(shot)]);
        let height = shown(|shot| shot.above).map(|it| it.height).max();
        let below = shown(|shot| shot.below).map(|it| it.height).max();
        let (above, below) = height.zip(below).context("no shot was taken")?;
        let width = self
            .screens
            .iter()
            .map(|screen| screen.width)
            .max()
            .unwrap_or_default();
        let total: f64 = self.shots.iter().map(|shot| shot.seconds).sum();
        let (mut style, mut frames) = (String::new(), String::new());
        let mut from = 0.0;
        for (number, shot) in self.shots.iter().enumerate() {
            let percent = |at: f64| 100.0 * at / total;
            let until = from + shot.seconds;
            write!(
                style,
                ".shot-{number} {{ animation: shot-{number} {total}s step-end infinite }}\n\
                 @keyframes shot-{number} {{ 0% {{ visibility: hidden }} {:.2}% {{ visibility: visible }} \
                 {:.2}% {{ visibility: hidden }} }}\n",
                percent(from),
                percent(until).min(99.99),
            )?;
            let still = if shot.is_still { " still" } else { "" };
            writeln!(
                frames,
                "<g class=\"shot shot-{number}{still}\"><use href=\"#screen-{}\"/>\
                 <use href=\"#screen-{}\" y=\"{}\"/></g>",
                shot.above,
                shot.below,
                above + GAP
            )?;
            from = until;
        }
        let mut screens = String::new();
        for (number, screen) in self.screens.iter().enumerate() {
            screens += &screen
                .svg
                .replacen("<svg ", &format!("<svg id=\"screen-{number}\" "), 1);
        }
        let height = above + GAP + below;
        Ok(format!(
            "<svg width=\"{width}px\" height=\"{height}px\" viewBox=\"0 0 {width} {height}\" \
             xmlns=\"http://www.w3.org/2000/svg\">\n<title>{title}</title>\n<style>\n.shot {{ visibility: hidden }}\n\
             {style}@media (prefers-reduced-motion: reduce) {{ .shot {{ animation: none }} \
             .still {{ visibility: visible }} }}\n</style>\n<defs>\n{screens}</defs>\n{frames}</svg>\n"
        ))
    }
}
