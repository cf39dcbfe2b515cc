//! Vim as people set it up: without a `vimrc`, as their distribution does, as Vim's own example does, and as the starter
//! configurations do that most people copy.

use std::path::PathBuf;
use std::process::Command;

use pillion_testkit::{Home, VimVersion};

use crate::install::pillion;
use crate::review::{ORIGINAL, PROPOSED, Review};
use crate::world::World;

/// What Vim does without a `vimrc`.
const DEFAULTS: &str = "source $VIMRUNTIME/defaults.vim";

/// Before that, Debian's own settings: `$VIM` is `usr/share/vim` there.
const DEBIAN: &str = "source $VIM/../../../etc/vim/vimrc\nsource $VIMRUNTIME/defaults.vim";

const EXAMPLE: &str = "source $VIMRUNTIME/vimrc_example.vim";

/// What most starters have in common, and more of what could be in the way of a proposal.
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

/// What the installer of amix/vimrc writes into `~/.vimrc`, for where a test has it.
const AMIX: &str = "set runtimepath+=~/.vim_runtime
source ~/.vim_runtime/vimrcs/basic.vim
source ~/.vim_runtime/vimrcs/filetypes.vim
source ~/.vim_runtime/vimrcs/plugins_config.vim
source ~/.vim_runtime/vimrcs/extended.vim";

impl Review {
    fn plain(version: VimVersion, home: Home, vimrc: &str) -> Review {
        pillion(&home, &["install", "vim"]);
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

each_vim! {
    fn it_works_without_a_vimrc(version) {
        accepts_and_rejects(version, DEFAULTS, ":w<CR>", ":q<CR>");
    }
}

each_vim! {
    fn it_works_with_the_defaults_of_the_distribution(version) {
        accepts_and_rejects(version, DEBIAN, "ZZ", "ZQ");
    }
}

each_vim! {
    fn it_works_with_the_example_of_vim(version) {
        accepts_and_rejects(version, EXAMPLE, ":wq<CR>", ":close<CR>");
    }
}

each_vim! {
    fn it_works_with_what_most_starters_have(version) {
        accepts_and_rejects(version, STARTER, ",w", ",q");
    }
}

each_vim! {
    needs "needs amix/vimrc and Vim: cargo xtask test"
    fn it_works_with_amix_vimrc(version) {
        let parts = std::env::var_os("PILLION_TEST_KICKSTART").expect("cargo xtask test sets it");
        let home = Home::new();
        let folder = home.home().join(".vim_runtime");
        std::fs::create_dir_all(&folder).unwrap();
        let archive = home.root().join("amix.tar");
        let git = Command::new("git")
            .args(["-c", "safe.directory=*", "archive", "--output"])
            .arg(&archive)
            .arg("master")
            .current_dir(PathBuf::from(parts).join("amix/vimrc"))
            .status();
        assert!(git.unwrap().success());
        assert!(Command::new("tar").arg("xf").arg(&archive).arg("-C").arg(&folder).status().unwrap().success());
        let review = Review::plain(version, home, AMIX);
        assert!(review.vim().get::<bool>("exists('g:lightline') && exists(':NERDTree') == 2 ? v:true : v:false"), "it is not there");
        works(review, ",w", ":q<CR>");
    }
}
