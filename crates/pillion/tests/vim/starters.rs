//! Vim as people set it up: without a `vimrc`, as their distribution does, as Vim's own example does, as starter
//! configurations do, and with the plugins that Debian has.

use pillion_testkit::{Home, VimVersion, each_vim};

use crate::install::pillion;
use crate::review::{ORIGINAL, PROPOSED, Review};
use crate::world::World;

/// The settings of a Vim without a `vimrc`.
const DEFAULTS: &str = "source $VIMRUNTIME/defaults.vim";

/// Before that, Debian's own settings: `$VIM` is `usr/share/vim` there.
const DEBIAN: &str = "source $VIM/../../../etc/vim/vimrc\nsource $VIMRUNTIME/defaults.vim";

const EXAMPLE: &str = "source $VIMRUNTIME/vimrc_example.vim";

/// The settings that most starters have in common, and more of what could be in the way of a proposal.
const STARTER: &str = "set nocompatible
let mapleader = ','
filetype plugin indent on
syntax enable
set hidden autoread autowrite nobackup nowritebackup noswapfile undofile undodir=~/.vim
set lazyredraw hlsearch incsearch ignorecase smartcase magic showmatch wildmenu ruler number foldcolumn=1 laststatus=2
set whichwrap+=<,>,h,l so=7 expandtab smarttab shiftwidth=4 tabstop=4 linebreak textwidth=500 autoindent wrap
set switchbuf=useopen,usetab,newtab showtabline=2 viewoptions=cursor,folds shortmess+=c updatetime=300 signcolumn=yes
set statusline=\\ %F%m%r%h\\ %w\\ \\ Line:\\ %l
nmap <leader>w :w!<CR>
map <leader>q :q<CR>
map 0 ^
map <Space> /
nnoremap ; :
inoremap jk <Esc>
map <C-j> <C-W>j
autocmd FocusGained,BufEnter * silent! checktime
autocmd BufReadPost * if line(\"'\\\"\") > 1 && line(\"'\\\"\") <= line('$') | execute \"normal! g'\\\"\" | endif
autocmd BufWritePre * %s/\\s\\+$//e
autocmd BufWinLeave ?* silent! mkview
autocmd BufWinEnter ?* silent! loadview
packadd! matchit
packadd! editorconfig";

impl Review {
    fn plain(version: VimVersion, home: Home, vimrc: &str) -> Review {
        pillion(&home, &["install", "vim", "--force"]);
        let world = World::with(version, home, &[("a.txt", ORIGINAL)], |setup| {
            setup.plain(vimrc)
        });
        let gemini = world.gemini();
        let path = world.home.workspace().join("a.txt");
        Review {
            world,
            gemini,
            path,
        }
    }
}

/// Accepts and rejects, as it opens and after the agent wrote the file; and what comes while the person types.
fn accepts_and_rejects(version: VimVersion, vimrc: &str, accept: &str, reject: &str) {
    works(Review::plain(version, Home::new(), vimrc), accept, reject);
}

fn works(mut review: Review, accept: &str, reject: &str) {
    review.propose(PROPOSED);
    review
        .vim()
        .input_until("Gomine<Esc>", "line('$') == 7 && mode() == 'n'");
    review.vim().input(accept);
    let accepted = format!("{PROPOSED}mine\n");
    review.is_accepted(&accepted);
    std::fs::write(&review.path, &accepted).unwrap();
    review
        .vim()
        .wait_until("the new text", "bufname() == 'a.txt' && line('$') == 7");
    review.propose("another\n");
    review.vim().input(reject);
    review.is_rejected();
    review.vim().input_until("i", "mode() == 'i'");
    review.begin_again(PROPOSED);
    review
        .vim()
        .pane()
        .wait_for("Gemini CLI proposes a.txt", pillion_testkit::SOON);
    review
        .vim()
        .input_until("<Esc>", "bufname() =~ '^pillion://' && mode() == 'n'");
    review.look();
    review.vim().input(accept);
    review.is_accepted(PROPOSED);
    assert_eq!(review.vim().get::<String>("bufname()"), "a.txt");
    review.vim().assert_no_errors();
}

#[each_vim]
fn it_works_without_a_vimrc(version: VimVersion) {
    accepts_and_rejects(version, DEFAULTS, ":w<CR>", ":q<CR>");
}

#[each_vim]
fn it_works_with_the_defaults_of_the_distribution(version: VimVersion) {
    accepts_and_rejects(version, DEBIAN, "ZZ", "ZQ");
}

#[each_vim]
fn it_works_with_the_example_of_vim(version: VimVersion) {
    accepts_and_rejects(version, EXAMPLE, ":wq<CR>", ":close<CR>");
}

#[each_vim]
fn it_works_with_what_most_starters_have(version: VimVersion) {
    accepts_and_rejects(version, STARTER, ",w", ",q");
}

#[each_vim(plugins)]
fn it_works_with_the_plugins_that_debian_has(version: VimVersion) {
    let folder = std::env::var("PILLION_TEST_ADDONS").expect("cargo xtask test sets it");
    // Those that are no package of Vim's lie where `vam` finds them.
    let vimrc = format!(
        "set packpath^={folder}/usr/share/vim/vimfiles runtimepath^={folder}/usr/share/vim/addons
let g:airline#extensions#tabline#enabled = 1
{STARTER}
packadd! CtrlP"
    );
    let review = Review::plain(version, Home::new(), &vimrc);
    review.vim().wait_until(
        "the plugins",
        "exists('g:loaded_airline') && exists(':Git') == 2 && exists(':GitGutter') == 2 \
         && exists(':ALEInfo') == 2 && exists(':CtrlP') == 2 && exists(':Tabularize') == 2 \
         && exists('g:lastplace_ignore')",
    );
    works(review, ",w", ":q<CR>");
}
