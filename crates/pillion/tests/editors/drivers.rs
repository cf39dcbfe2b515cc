//! The editors, as the rules use them.

mod neovim;
mod vim;

pub use self::neovim::Neovim;
pub use self::vim::Vim;
