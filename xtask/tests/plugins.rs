//! The boundaries of the editors' plugins, checked against their sources.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod source;

use pillion_protocol::Dialect;
use source::{Source, read};

/// The Lua files of the Neovim plugin.
fn plugin() -> Vec<Source> {
    read(&["editors/nvim"], "lua")
}

/// Plugins learn from the program which agents there are (`pillion/environment`); comments aside.
#[test]
fn no_plugin_names_an_agent() {
    forbid(&[
        "claude", "gemini", "qwen", "opencode", "copilot", "codex", "kimi", "vibe",
    ]);
}

/// Completion offers what the program knows: whoever lists agents in a manual or a page lists all of these.
#[test]
fn manuals_and_pages_name_the_agents_that_completion_offers() {
    let pages = [read(&["editors"], "txt"), read(&["editors", "docs"], "md")];
    let mut lists = Vec::new();
    for Source { path, text } in pages.into_iter().flatten() {
        for paragraph in text.split("\n\n") {
            let is_word = |c: char| c.is_alphanumeric() || "/-_~".contains(c);
            let words: Vec<_> = paragraph.split(|c| !is_word(c)).collect();
            let (named, missing): (Vec<_>, Vec<_>) =
                { Dialect::ALL.into_iter().map(Dialect::name) }
                    .partition(|name| words.contains(name));
            if named.len() > Dialect::ALL.len() / 2 {
                assert!(
                    missing.is_empty(),
                    "{path} lists no {missing:?}:\n{paragraph}"
                );
                lists.push(path.clone());
            }
        }
    }
    for path in [
        "editors/nvim/doc/pillion.txt",
        "editors/vim/doc/pillion.txt",
        "docs/hooks.md",
    ] {
        assert!(lists.iter().any(|it| it == path), "{path} has no list");
    }
}

/// The roots are worked out by the program (`pillion/didChangeWorkspace`).
#[test]
fn no_plugin_knows_a_repository_by_its_marks() {
    forbid(&["\".git", "'.git", ".jj\"", ".jj'", "_darcs", ".pijul"]);
}

/// Doubts, and how long something has to be seen, are the gate's.
#[test]
fn no_plugin_has_a_threshold_or_a_sentence_of_the_gate() {
    let sentences = [
        "only just opened",
        "key repeat",
        "accept again",
        "toosoon",
        "taken for a rejection",
    ];
    forbid(&[sentences.as_slice(), &["700", "0.7 ", "0.7)"]].concat());
}

/// The files of all plugins.
fn plugins() -> Vec<Source> {
    let kinds = ["lua", "vim", "el", "kak"];
    let files = kinds.map(|kind| read(&["editors"], kind));
    files.into_iter().flatten().collect()
}

/// Fails for every line of a plugin, comments aside, that says one of `words`, in small letters.
fn forbid(words: &[&str]) {
    let mut offenders = Vec::new();
    for Source { path, text } in plugins() {
        let comment = match path.rsplit('.').next() {
            Some("lua") => "--",
            Some("el") => ";",
            _ => "#",
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_start();
            let says_one = words.iter().any(|word| line.to_lowercase().contains(word));
            if says_one && !line.starts_with(comment) && !line.starts_with('"') {
                offenders.push(format!("{path}:{}: {line}", number + 1));
            }
        }
    }
    assert!(offenders.is_empty(), "{}", offenders.join("\n"));
}

#[test]
fn every_file_of_the_plugin_says_what_it_owns() {
    for Source { path, text } in plugin() {
        assert!(text.starts_with("--- "), "{path} does not start with ---");
    }
}

/// A command that is put together could hold text of an agent, and Neovim would run it.
#[test]
fn the_plugin_puts_no_command_together_from_text() {
    // Numbers, and words of the plugin's own or checked before.
    let excepted = [
        "vim.cmd(\"tabclose! \" .. vim.api.nvim_tabpage_get_number(tab))",
        "vim.cmd(\"silent! setlocal filetype=\" .. filetype)",
    ];
    let runs = ["vim.cmd", "nvim_command(", "nvim_exec", "fn.execute("];
    let puts_together = ["..", "%s", "concat"];
    for Source { path, text } in plugin() {
        for (number, line) in text.lines().enumerate() {
            let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
            let is_excepted = excepted.contains(&line.trim());
            let is_own_words = line.contains("%s %dsplit");
            assert!(
                !(has(&runs) && has(&puts_together)) || is_excepted || is_own_words,
                "{path}:{}: {line}",
                number + 1
            );
        }
    }
}

/// The scripts of the Vim plugin.
fn vim_plugin() -> Vec<Source> {
    read(&["editors/vim"], "vim")
}

#[test]
fn every_script_of_the_vim_plugin_says_what_it_owns_and_stays_small() {
    for Source { path, text } in vim_plugin() {
        let is_loaded_at_once = path.ends_with("plugin/pillion.vim");
        let says = text.starts_with("vim9script\n\n# ") || is_loaded_at_once;
        assert!(says, "{path} does not start with vim9script and a comment");
        let lines = text.lines().count();
        assert!(lines <= 450, "{path} has {lines} lines");
    }
}

/// The Lisp of the Emacs package.
fn emacs_package() -> Vec<Source> {
    read(&["editors/emacs"], "el")
}

#[test]
fn every_file_of_the_emacs_package_says_what_it_owns_and_stays_small() {
    for Source { path, text } in emacs_package() {
        let is_for_package_managers = path.ends_with("-pkg.el") || path.ends_with("-autoloads.el");
        let says = text.contains("\n;;; Commentary:\n\n;; ") || is_for_package_managers;
        assert!(says, "{path} has no commentary");
        assert!(
            text.lines()
                .next()
                .unwrap_or_default()
                .contains("lexical-binding: t"),
            "{path}"
        );
        let lines = text.lines().count();
        assert!(lines <= 520, "{path} has {lines} lines");
    }
}

/// Wherever point is, and not in the list of changes alone.
#[test]
fn the_menu_of_emacs_has_what_its_page_names() {
    let menu = emacs_package().into_iter();
    let mut menu = menu.filter(|it| it.path.ends_with("pillion-menu.el"));
    let menu = menu.next().unwrap().text;
    let (_, everywhere) = menu.split_once("[[\"Agents\"").unwrap();
    let page = read(&["editors/emacs"], "md").remove(0).text;
    let named = page.split("`M-x pillion-").skip(1);
    let named = named.map(|it| it.split('`').next().unwrap());
    for command in named.filter(|it| *it != "menu") {
        let entries = [")", " :"].map(|end| format!(" pillion-{command}{end}"));
        let is_there = entries.iter().any(|it| everywhere.contains(it.as_str()));
        assert!(is_there, "{command}");
    }
}

/// A text that is evaluated, or handed to a shell, could be one of an agent.
#[test]
fn the_emacs_package_evaluates_no_text() {
    for Source { path, text } in emacs_package() {
        for call in [
            "(eval ",
            "(read ",
            "(read-from-string",
            "(shell-command",
            "-shell-command ",
            "(call-process",
            "(load-file ",
        ] {
            assert!(!text.contains(call), "{path} has {call}");
        }
    }
}

/// A command that is put together could hold text of an agent, and Vim would run it.
#[test]
fn the_vim_plugin_puts_no_command_together_from_text() {
    // Numbers, and words of the plugin's own or checked before.
    let own = [
        "<Plug>(pillion-",
        "execute \"normal! \\<Esc>\"",
        "'echohl' HIGHLIGHTS[level]",
        "<nomodeline> User' name",
        "bwipeout!' known",
        "bwipeout!' refusing",
        "'silent file' name",
        "'buffer' bufadd(file)",
        "sleep {POLL_INTERVAL}m",
        ":{max([wanted, 1])}split",
        "buffer' session.buf",
        "bwipeout!' session.buf",
        "bwipeout!' info.bufnr",
        "checktime' buf",
        "PillionUnified{diff.id}",
        "<buffer={diff.right}>",
        "{side.how} :{side.size}split",
        "buffer' buf",
        "{how}split",
        "buffer' diff.left",
        "sbuffer' diff.right",
        "    execute line",
        "{string(line)}",
        "execute sizes",
        "execute place.sizes",
        "filetypedetect BufRead' path",
        "setlocal filetype=' .. filetype",
        "bwipeout!' buf",
        "source' fnameescape(script.name)",
        "defcompile' name",
        "nunmap' keys",
        "<expr> {keys} pillion#diff#astray#Closing({at})",
    ];
    for Source { path, text } in vim_plugin() {
        for (number, line) in text.lines().enumerate() {
            let is_comment = line.trim_start().starts_with(['#', '"']);
            let runs = line.split_whitespace().any(|word| word == "execute");
            let is_own = own.iter().any(|words| line.contains(words));
            let number = number + 1;
            assert!(is_comment || !runs || is_own, "{path}:{number}: {line}");
        }
    }
}
