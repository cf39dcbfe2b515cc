//! The editors, as the rules use them.

mod emacs;
mod neovim;
mod vim;

pub use self::emacs::Emacs;
pub use self::neovim::Neovim;
pub use self::vim::Vim;
