//! Vim, by its keys and its own channel.

use std::path::Path;

use pillion_testkit::{VimSetup, VimVersion, vim_command};
use pillion_view::LOOK;
use serde_json::Value;

use crate::driver::{Editor, Habit, PILLION, Start};
use crate::drivers::QUITS;

const AUTOSAVE: &str = "set hidden updatetime=50\n\
    autocmd CursorHold,TextChanged,InsertLeave,BufLeave,FocusLost * ++nested \
    silent! update | let g:saves = get(g:, 'saves', 0) + 1\n";

const TIDY_FILES: &str = "set fixendofline fileformats=mac,dos,unix textwidth=20\n\
    autocmd BufWritePre * %s/\\s\\+$//e\n";

/// The layout, where the person is, registers, marks, undo, options, jumps.
const TRACES: &str = "[winlayout(), winrestcmd(), tabpagenr('$'), win_getid(), winnr('#'), getcurpos(), winsaveview(), \
    getreginfo('\"'), getreginfo('/'), getreg('a'), getmarklist(), getmarklist(bufnr()), bufnr('#'), bufnr(), undotree(), \
    &eventignore, &switchbuf, &scrollopt, &diffopt, &hidden, \
    execute('setlocal!')->split(\"\\n\")->filter('v:val !~ \"statusline\"'), v:errmsg, getjumplist(), getchangelist(), \
    &modified, getbufinfo({'buflisted': 1})->mapnew('v:val.name'), &modifiable, v:hlsearch, &diff]";

const VIEWS: &str = "getbufinfo()->filter('v:val.name =~ \"^pillion://\"')";

pub struct Vim {
    vim: pillion_testkit::Vim,
}

impl Vim {
    pub fn start(version: VimVersion, start: &Start<'_>) -> Vim {
        let habit = match start.habit {
            Habit::None => "",
            Habit::Autosave => AUTOSAVE,
            Habit::TidyFiles => TIDY_FILES,
        };
        let mut setup = VimSetup::new(version, start.home)
            .pillion(PILLION)
            .cwd(&start.cwd)
            .vimrc(habit);
        for file in &start.files {
            setup = setup.arg(file);
        }
        let vim = setup.in_tmux(start.tmux);
        Vim { vim }
    }

    fn is(&self, condition: &str) -> bool {
        self.vim.get(&format!("({condition}) ? v:true : v:false"))
    }
}

impl Editor for Vim {
    fn accept_times(&self, times: usize) {
        self.vim.input(&":w<CR>".repeat(times));
    }

    fn reject(&self) {
        self.command("reject", "");
    }

    fn reject_because(&self, reason: &str) {
        self.command("reject", reason);
    }

    fn close(&self) {
        self.vim.input(":q<CR>");
    }

    fn command(&self, name: &str, word: &str) {
        self.vim.input(&format!(":{}<CR>", vim_command(name, word)));
    }

    fn append(&self, line: &str) {
        let is_there = format!("getline('$') == '{line}' && mode() == 'n'");
        self.vim.input_until(&format!("Go{line}<Esc>"), &is_there);
    }

    fn undo(&self) {
        self.vim.input("u");
    }

    fn begin_typing(&self, text: &str) {
        let is_there = format!("getline('$') == '{text}' && mode() == 'i'");
        self.vim.input_until(&format!("Go{text}"), &is_there);
    }

    fn type_on(&self, text: &str) {
        self.vim.input(text);
    }

    fn end_typing(&self) {
        self.vim.input_until("<Esc>", "mode() == 'n'");
    }

    fn go_to(&self, line: u32) {
        let is_there = format!("line('.') == {line} && col('.') == 1");
        self.vim.input_until(&format!("<Esc>{line}G0"), &is_there);
    }

    fn select(&self, line: u32, characters: u32) {
        let further = "l".repeat(characters as usize - 1);
        self.vim
            .input_until(&format!("{line}G0v{further}"), "mode() == 'v'");
    }

    fn open_terminal(&self) {
        self.vim
            .input_until(":vertical botright terminal<CR>", "mode() == 't'");
    }

    fn enter_terminal(&self) {
        self.vim.input_until("<C-w>l", "&buftype == 'terminal'");
    }

    fn leave_terminal(&self) {
        self.vim.input_until("<C-w>h", "&buftype == ''");
    }

    fn save_by_code(&self) {
        self.vim.command("silent! wall");
        self.vim.command("silent! write");
        self.vim.command("silent! update");
    }

    fn autosaves(&self) -> u32 {
        self.vim.get("get(g:, 'saves', 0)")
    }

    fn wait_read(&self) {
        self.vim.pane().wait_read();
    }

    fn show_proposal(&self) {
        self.vim.input(":PillionDiffs<CR>");
    }

    fn is_running(&self) -> bool {
        self.is("pillion#Status().running && pillion#Status().port isnot '?'")
    }

    fn knows(&self, agent: &str) -> bool {
        let names = "mapnew(pillion#Status().agents, 'v:val.name')";
        self.is(&format!("index({names}, '{agent}') >= 0"))
    }

    fn has_in_status_line(&self, text: &str) -> bool {
        let line: String = self.vim.get("pillion#Statusline()");
        line.contains(text)
    }

    fn is_in_proposal(&self) -> bool {
        self.is("bufname() =~# '^pillion://'")
    }

    fn may_accept(&self) -> bool {
        let long = LOOK.as_millis();
        let looked_at = format!("pillion#diff#DrawnFor() >= {long}");
        self.is(&format!(
            "{looked_at} && (bufname() !~ '^pillion://' || &modifiable)"
        ))
    }

    fn has_views(&self) -> bool {
        // Vim waits for the person where a message was longer than the line.
        if self.sees("Press ENTER") {
            self.vim.input("<CR>");
        }
        self.is(&format!("!empty({VIEWS})"))
    }

    fn sees(&self, text: &str) -> bool {
        self.vim.pane().screen().contains(text)
    }

    fn text(&self) -> String {
        self.vim.get("join(getline(1, '$'), \"\\n\") .. \"\\n\"")
    }

    fn file_text(&self, path: &Path) -> String {
        let lines = format!("getbufline('{}', 1, '$')", path.display());
        self.vim.get(&format!("join({lines}, \"\\n\") .. \"\\n\""))
    }

    fn has_kept(&self, text: &str) -> bool {
        let kept: Vec<Vec<String>> = self.vim.get(
            "getbufinfo({'buflisted': 1, 'bufmodified': 1})->mapnew('getbufline(v:val.bufnr, 1, \"$\")')",
        );
        kept.iter().any(|lines| lines.join("\n") + "\n" == text)
    }

    fn traces(&self) -> Value {
        self.vim.get(TRACES)
    }

    fn assert_no_errors(&self) {
        self.vim.assert_no_errors();
    }

    fn describe(&self) -> String {
        self.vim.describe()
    }

    fn try_to_quit(&self, way: usize) -> bool {
        self.vim
            .wait_until("keys count", "!exists('#PillionLeft#CmdlineLeave')");
        self.vim.input(QUITS[way]);
        true
    }

    fn quit_by(&self, way: usize) {
        // It may be asking for Enter.
        self.vim.input("<C-\\><C-n>");
        self.vim
            .wait_until("the file", "mode() == 'n' && &buftype == ''");
        self.vim.input(QUITS[way]);
        self.vim.wait_exit();
    }

    fn quit(&self) {
        self.vim.quit();
    }

    fn kill(&self) {
        self.vim.kill();
    }
}
