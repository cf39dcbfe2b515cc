//! What the review is shown on: a screen, or lines that are appended.

use std::io;

use pillion_view::ProposalKey;
use ratatui::buffer::Buffer;
use ratatui::layout::Size;

use crate::lines::Lines;
use crate::terminal::Screen;

/// What the review is shown on.
pub enum Face {
    /// The terminal, which is ours.
    Screen(Screen),
    /// The terminal as it is, or a file.
    Lines(Lines),
}

impl Face {
    /// The number of columns and rows.
    ///
    /// # Errors
    /// When the terminal does not say.
    pub fn size(&self) -> io::Result<Size> {
        match self {
            Self::Screen(screen) => screen.size(),
            Self::Lines(_) => Ok(Lines::size()),
        }
    }

    /// Shows the frame that `render` draws, with this proposal.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn draw(
        &mut self,
        shown: Option<ProposalKey>,
        render: impl FnOnce(&mut Buffer),
    ) -> io::Result<()> {
        match self {
            Self::Screen(screen) => screen.draw(|frame| render(frame.buffer_mut())),
            Self::Lines(lines) => lines.draw(shown, render),
        }
    }

    /// The screen, unless it is lines.
    pub fn screen(&mut self) -> Option<&mut Screen> {
        match self {
            Self::Screen(screen) => Some(screen),
            Self::Lines(_) => None,
        }
    }
}
