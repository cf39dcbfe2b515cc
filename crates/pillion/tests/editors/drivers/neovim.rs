//! Neovim, by its keys and its own protocol.

use std::path::Path;

use pillion_testkit::{MAY_DECIDE, Nvim, NvimSetup, NvimVersion, Size, vim_command};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::driver::{Editor, Habit, PILLION, Start};
use crate::drivers::QUITS;

const AUTOSAVE: &str = "vim.o.updatetime = 50
    vim.cmd [[autocmd CursorHold,TextChanged,InsertLeave,BufLeave,FocusLost * ++nested \
      silent! update | let g:saves = get(g:, 'saves', 0) + 1]]";

const TIDY_FILES: &str =
    "vim.o.fixendofline = true vim.o.fileformats = 'mac,dos,unix' vim.o.textwidth = 20
    vim.cmd [[autocmd BufWritePre * %s/\\s\\+$//e]]";

const HAS_VIEWS: &str = "#vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_get_name(buf):find('^pillion://') ~= nil
  end, vim.api.nvim_list_bufs()) > 0";

const KNOWS: &str = "vim.tbl_contains(vim.tbl_map(function(agent) return agent.name end,
    require('pillion.client').state.agents), ...)";

/// Of a buffer.
const TEXT: &str = "table.concat(vim.api.nvim_buf_get_lines(..., 0, -1, false), '\\n') .. '\\n'";

pub struct Neovim {
    nvim: Nvim,
}

impl Neovim {
    pub fn start(version: NvimVersion, start: &Start<'_>) -> Neovim {
        let habit = match start.habit {
            Habit::None => "",
            Habit::Autosave => AUTOSAVE,
            Habit::TidyFiles => TIDY_FILES,
        };
        let mut setup = NvimSetup::new(version, start.home)
            .pillion(PILLION)
            .cwd(&start.cwd)
            .init(habit);
        for file in &start.files {
            setup = setup.arg(file);
        }
        let nvim = setup.in_tmux(start.tmux, Size::new(120, 30));
        Neovim { nvim }
    }

    /// The value of a Lua expression, as soon as Neovim waits for no key.
    fn get<T: DeserializeOwned>(&self, expression: &str, args: &Value) -> T {
        let code = format!("return {{ {expression} }}");
        let found: Value = self.nvim.wait_for(expression, &code, args.clone());
        serde_json::from_value(found[0].clone()).unwrap()
    }

    fn is(&self, condition: &str) -> bool {
        self.get(condition, &json!([]))
    }

    fn type_until(&self, keys: &str, condition: &str) {
        self.nvim.input(keys);
        self.nvim.wait_until(keys, condition);
    }
}

impl Editor for Neovim {
    fn accept_times(&self, times: usize) {
        self.nvim.input(&":w<CR>".repeat(times));
    }

    fn reject(&self) {
        self.command("reject", "");
    }

    fn reject_because(&self, reason: &str) {
        self.command("reject", reason);
    }

    fn close(&self) {
        self.nvim.input(":q<CR>");
    }

    fn command(&self, name: &str, word: &str) {
        self.nvim
            .input(&format!(":{}<CR>", vim_command(name, word)));
    }

    fn append(&self, line: &str) {
        let is_there =
            format!("vim.fn.getline('$') == '{line}' and vim.api.nvim_get_mode().mode == 'n'");
        self.type_until(&format!("Go{line}<Esc>"), &is_there);
    }

    fn undo(&self) {
        self.nvim.input("u");
    }

    fn begin_typing(&self, text: &str) {
        let is_there =
            format!("vim.fn.getline('$') == '{text}' and vim.api.nvim_get_mode().mode == 'i'");
        self.type_until(&format!("Go{text}"), &is_there);
    }

    fn type_on(&self, text: &str) {
        self.nvim.input(text);
    }

    fn end_typing(&self) {
        self.type_until("<Esc>", "vim.api.nvim_get_mode().mode == 'n'");
    }

    fn go_to(&self, line: u32) {
        let is_there = format!("vim.fn.line('.') == {line} and vim.fn.col('.') == 1");
        self.type_until(&format!("<Esc>{line}G0"), &is_there);
    }

    fn select(&self, line: u32, characters: u32) {
        let further = "l".repeat(characters as usize - 1);
        let keys = format!("{line}G0v{further}");
        self.type_until(&keys, "vim.api.nvim_get_mode().mode == 'v'");
    }

    fn open_terminal(&self) {
        self.type_until(
            ":botright vsplit | terminal<CR>i",
            "vim.api.nvim_get_mode().mode == 't'",
        );
    }

    fn enter_terminal(&self) {
        self.type_until("<C-w>l", "vim.bo.buftype == 'terminal'");
    }

    fn leave_terminal(&self) {
        self.type_until("<C-\\><C-n><C-w>h", "vim.bo.buftype == ''");
    }

    fn save_by_code(&self) {
        for command in ["silent! wall", "silent! write", "silent! update"] {
            self.nvim.command(command);
        }
    }

    fn save_by_other(&self, _path: &Path, line: &str) -> bool {
        let keys = format!(":call append('$', '{line}') | write<CR>");
        self.nvim.other_client().input(&keys);
        true
    }

    fn autosaves(&self) -> u32 {
        self.get("vim.g.saves or 0", &json!([]))
    }

    fn show_proposal(&self) {
        self.nvim.input(":PillionDiffs<CR>");
    }

    fn is_running(&self) -> bool {
        self.is("require('pillion.client').is_running() and require('pillion.client').state.port ~= nil")
    }

    fn knows(&self, agent: &str) -> bool {
        self.get(KNOWS, &json!([agent]))
    }

    fn has_in_status_line(&self, text: &str) -> bool {
        let line: String = self.get("require('pillion').statusline()", &json!([]));
        line.contains(text)
    }

    fn is_in_proposal(&self) -> bool {
        self.is("vim.b.pillion_diff ~= nil")
    }

    fn may_accept(&self) -> bool {
        self.is(MAY_DECIDE)
    }

    fn has_views(&self) -> bool {
        self.is(HAS_VIEWS)
    }

    fn sees(&self, text: &str) -> bool {
        self.nvim.pane().screen().contains(text)
    }

    fn text(&self) -> String {
        self.get(TEXT, &json!([0]))
    }

    fn file_text(&self, path: &Path) -> String {
        let buffer: u32 = self.get("vim.fn.bufnr(...)", &json!([path]));
        self.get(TEXT, &json!([buffer]))
    }

    fn has_kept(&self, text: &str) -> bool {
        let kept: Vec<Vec<String>> = self.get(
            "vim.tbl_map(function(info) return vim.fn.getbufline(info.bufnr, 1, '$') end,
              vim.fn.getbufinfo({ buflisted = 1, bufmodified = 1 }))",
            &json!([]),
        );
        kept.iter().any(|lines| lines.join("\n") + "\n" == text)
    }

    fn traces(&self) -> Value {
        self.nvim
            .lua(include_str!("../../nvim/diff_everything.lua"), json!([]))
    }

    fn assert_no_errors(&self) {
        self.nvim.assert_no_errors();
    }

    fn describe(&self) -> String {
        self.nvim.describe()
    }

    fn try_to_quit(&self, way: usize) -> bool {
        self.nvim.wait_until(
            "keys count",
            "#vim.api.nvim_get_autocmds({ group = 'PillionAstray' }) == 0",
        );
        self.nvim.input(QUITS[way]);
        true
    }

    fn quit_by(&self, way: usize) {
        // It may be asking for Enter.
        self.nvim.input("<C-\\><C-n>");
        self.nvim
            .wait_until("the file", "vim.fn.mode() == 'n' and vim.bo.buftype == ''");
        self.nvim.input(QUITS[way]);
        self.nvim.wait_exit();
    }

    fn quit(&self) {
        // It may be asking for Enter, and would do nothing else until then.
        self.nvim.input("<C-\\><C-n>");
        self.nvim.quit();
    }

    fn kill(&self) {
        self.nvim.kill();
    }
}
