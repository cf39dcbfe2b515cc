//! Only a write that the person typed for the proposal accepts it: no autosave, no option, no command for
//! many buffers.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::diff::Review;

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";
const EDITED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\nmine\n";

/// Says once what accepts.
const EXPLAINED: &str = "autosave and :wa do not accept a proposal";

/// The settings that people have.
const INIT: &str = "
    vim.keymap.set('n', ' l', function() vim.cmd('write') end)
    vim.keymap.set('n', ' a', '<Cmd>wall<CR>')
    vim.cmd [[
      nnoremap <expr> <Space>e \"\\<Cmd>w\\<CR>\"
      function! Save(...)
        silent! write
      endfunction
      command! SaveAll wall
    ]]
    vim.fn.setreg('q', ':w\\r')";

/// The keys that write the proposal, and are no decision about it.
const WRITERS: &[&str] = &[
    ":lua vim.defer_fn(function() vim.cmd('silent! write') vim.g.done = true end, 5)<CR>",
    ":lua local buf = vim.api.nvim_get_current_buf() vim.defer_fn(function() \
       vim.api.nvim_buf_call(buf, function() vim.cmd('update') end) vim.g.done = true end, 5)<CR>",
    ":lua vim.api.nvim_command('w') vim.g.done = true<CR>",
    ":call timer_start(5, 'Save')<CR>:call timer_start(10, {-> execute('let g:done = v:true')})<CR>",
    ":call Save() | let g:done = v:true<CR>",
    ":execute 'w' | let g:done = v:true<CR>",
    ":lua vim.cmd('normal ZZ')<CR>:let g:done = v:true<CR>",
    ":lua vim.cmd('normal! ZZ')<CR>:let g:done = v:true<CR>",
    ":wa | let g:done = v:true<CR>",
    ":wall! | let g:done = v:true<CR>",
    ":SaveAll<CR>:let g:done = v:true<CR>",
    ":windo w<CR>:let g:done = v:true<CR>",
    ":tabdo silent! windo update<CR>:let g:done = v:true<CR>",
    ":doautocmd FocusLost | let g:done = v:true<CR>",
    ":set autowriteall | silent !true<CR>:set noautowriteall | let g:done = v:true<CR>",
    "@q:let g:done = v:true<CR>",
    " l:let g:done = v:true<CR>",
    " a:let g:done = v:true<CR>",
    " e:let g:done = v:true<CR>",
    // Typed for another buffer, which is left for the proposal.
    "<C-w>h:silent! wincmd l | w<CR>:let g:done = v:true<CR>",
    // Typed, and thought better of.
    ":w<Esc>:lua vim.cmd('write') vim.g.done = true<CR>",
];

#[each_neovim]
fn what_nobody_typed_for_the_proposal_accepts_nothing_and_says_so_once(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    review
        .world
        .nvim
        .command("autocmd FocusLost * silent! wall");
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.bo.modified");
    for writer in WRITERS {
        review.world.nvim.command("let g:done = v:false");
        // The question of Neovim, if it has one, is answered.
        review.type_until(writer, "vim.g.done == true");
        let state: Value = review.world.nvim.lua(
            "return { #require('pillion.diff').list(), vim.fn.getbufvar('^pillion://', '&modified') == 1 }",
            json!([]),
        );
        assert_eq!(state, json!([1, true]), "after {writer}");
        review
            .world
            .nvim
            .command("execute bufwinnr('^pillion://') . 'wincmd w'");
    }
    review.is_pending("code that writes");
    assert_eq!(
        review.world.nvim.messages().matches(EXPLAINED).count(),
        1,
        "{}",
        review.world.nvim.messages()
    );
    review.world.nvim.input(":w<CR>");
    review.is_accepted(EDITED);
}

/// Three plugins that save by themselves: after a while by the buffer, at once and at the end, and in
/// Vimscript. They count how often.
const AUTOSAVES: [&str; 3] = [
    "local queued = {}
     vim.api.nvim_create_autocmd({ 'InsertLeave', 'TextChanged' }, { callback = function()
       local buf = vim.api.nvim_get_current_buf()
       if queued[buf] then return end
       queued[buf] = true
       vim.defer_fn(function()
         queued[buf] = false
         if vim.bo[buf].modified then
           vim.api.nvim_buf_call(buf, function() vim.cmd('silent! write') end)
           vim.g.saved = (vim.g.saved or 0) + 1
         end
       end, 135)
     end })",
    "local function save(event)
       if vim.bo[event.buf].modified then
         vim.api.nvim_buf_call(event.buf, function() vim.cmd('lockmarks silent! write') end)
         vim.g.saved = (vim.g.saved or 0) + 1
       end
     end
     vim.api.nvim_create_autocmd({ 'BufLeave', 'FocusLost', 'QuitPre', 'InsertLeave' }, { callback = save })",
    "vim.cmd [[
       set updatetime=50
       autocmd InsertLeave,CursorHold,TextChanged,FocusLost * silent! wall | let g:saved = get(g:, 'saved', 0) + 1
     ]]",
];

#[each_neovim]
fn plugins_that_save_by_themselves_leave_the_decision_to_the_person(version: NvimVersion) {
    for autosave in AUTOSAVES {
        let mut review = Review::with(version, autosave);
        review.propose(PROPOSED);
        review.world.nvim.command("let g:saved = 0");
        review.type_until("Gomine<Esc><C-w>h<C-w>l", "vim.g.saved > 0");
        review.type_until(
            "<C-w>h<C-w>l:q<CR>",
            "vim.fn.bufname() == vim.fn.bufname('^pillion://')",
        );
        review.is_pending("an autosave");
        let is_modified: bool = review.world.nvim.lua("return vim.bo.modified", json!([]));
        assert!(is_modified);
        review.world.nvim.input(":w<CR>");
        review.is_accepted(EDITED);
    }
}

fn accepts_with(version: NvimVersion, init: &str, keys: &[&str]) {
    let mut review = Review::with(version, init);
    for keys in keys {
        review.propose(PROPOSED);
        review.world.nvim.input(&format!("Gomine<Esc>{keys}"));
        review.is_accepted(EDITED);
    }
    review.world.nvim.assert_no_errors();
}

#[each_neovim]
fn maps_and_commands_of_the_person_that_write_accept(version: NvimVersion) {
    accepts_with(
        version,
        "local map = vim.keymap.set
             map('n', '<C-s>', '<Cmd>w<CR>')
             map('i', '<C-s>', '<Cmd>silent! update<CR><Esc>')
             map('n', ' w', ':w<CR>')
             map('n', ' u', ':<C-u>silent update<CR>', { silent = true })
             map('n', ' x', '<cmd>x<cr>')
             map('n', ' z', 'ZZ')
             map('n', ' p', '<Plug>(pillion-accept)')
             map('n', ' b', ':w<Bar>let g:saved = 1<CR>')
             map('x', ' v', ':<C-u>w<CR>')
             map('n', ' i', ':w')
             map('n', ';', ':')
             map('i', '<C-e>', '<Esc>:silent w<CR>')
             map('i', '<C-o>', '<C-o>:w<CR>')
             map('n', ' f', function() require('pillion').accept() end)
             vim.cmd [[
               nnoremap <expr> <Space>e \":w\\<CR>\"
               command! -bang W w<bang>
               command! Wq wq
               command! Save silent write
               cabbrev ww w
             ]]",
        &[
            "<C-s>",
            "A<C-s>",
            " w",
            " u",
            " x",
            " z",
            " p",
            " f",
            ":W<CR>",
            ":W!<CR>",
            ":Wq<CR>",
            " b",
            " e",
            "V v",
            " i<CR>",
            ";w<CR>",
            "A<C-e>",
            "A<C-o><Esc>",
            ":Save<CR>",
            ":ww<CR>",
            ":1,$w<CR>",
            ":%w!<CR>",
            ":keepalt sil! up<CR>",
            ":exit<CR>",
            "q:iw<CR>",
            ":w %<CR>",
            ":w ++enc=utf-8<CR>",
            ":w | let g:saved = 1<CR>",
            ":w <C-r>=bufname()<CR><CR>",
        ],
    );
}

#[each_neovim]
fn maps_that_are_made_after_the_view_accept_once_it_is_entered(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    review.world.nvim.command("nnoremap <C-s> <Cmd>w<CR>");
    review.world.nvim.input("Gomine<Esc><C-w>h<C-w>l<C-s>");
    review.is_accepted(EDITED);
}

/// The maps and commands of a full configuration, and how often the commands were asked for.
const MANY: &str = "
    local name = function(number) return 'Do' .. string.char(97 + number % 26, 97 + math.floor(number / 26)) end
    for number = 0, 149 do
      vim.api.nvim_create_user_command(name(number), 'echo <q-args>', { nargs = '*' })
    end
    for number = 0, 299 do
      vim.keymap.set('n', ' m' .. number .. 'm', '<Cmd>' .. name(number % 150) .. ' ' .. number .. '<CR>')
    end
    _G.asked = { nvim_get_commands = 0, nvim_buf_get_commands = 0 }
    for call in pairs(_G.asked) do
      local real = vim.api[call]
      vim.api[call] = function(...)
        _G.asked[call] = _G.asked[call] + 1
        return real(...)
      end
    end
    vim.keymap.set('n', '<C-s>', '<Cmd>w<CR>')";

#[each_neovim]
fn commands_are_asked_for_once_for_each_event_however_many_maps_there_are(version: NvimVersion) {
    let mut review = Review::with(version, MANY);
    let asked = "local asked = { _G.asked.nvim_get_commands, _G.asked.nvim_buf_get_commands }
        _G.asked = { nvim_get_commands = 0, nvim_buf_get_commands = 0 }
        return asked";
    for _ in 0..3 {
        review.world.nvim.lua::<Value>(asked, json!([]));
        review.propose(PROPOSED);
        // It was opened, and entered.
        assert_eq!(
            review.world.nvim.lua::<Value>(asked, json!([])),
            json!([2, 2])
        );
        let is_back = "vim.g.was_left == true and vim.fn.bufname():find('^pillion://') ~= nil";
        review.type_until("<C-w>h:let g:was_left = v:true<CR><C-w>l", is_back);
        // It was entered again; `:let` is no command of the person's.
        assert_eq!(
            review.world.nvim.lua::<Value>(asked, json!([])),
            json!([1, 1])
        );
        review.world.nvim.command("let g:was_left = v:false");
        review.world.nvim.input("Gomine<Esc><C-s>");
        review.is_accepted(EDITED);
    }
    review.world.nvim.assert_no_errors();
}

#[each_neovim]
fn maps_and_commands_that_changed_are_noticed_when_the_proposal_is_entered(version: NvimVersion) {
    let mut review = Review::with(version, "vim.keymap.set('n', ' k', ':Keep<CR>')");
    // What is defined before the proposal comes, and then: whether the key of the map writes.
    for (before, then, key, writes) in [
        ("command! Keep let g:kept = 1", "", " k", false),
        (
            "command! Keep let g:kept = 1",
            "command! Keep silent write",
            " k",
            true,
        ),
        (
            "command! Keep let g:kept = 1",
            "command! -buffer Keep silent write",
            " k",
            true,
        ),
        (
            "command! Keep silent write",
            "nnoremap <buffer> <C-s> :Keep<CR>",
            "<C-s>",
            true,
        ),
        (
            "command! Keep let g:kept = 1",
            "nnoremap <buffer> <C-s> :Keep<CR>",
            "<C-s>",
            false,
        ),
        (
            "command! Keep silent write",
            "nnoremap <C-s> <Cmd>w<CR>",
            "<C-s>",
            true,
        ),
        ("delcommand Keep", "nunmap <C-s>", " k", false),
    ] {
        review.world.nvim.command(before);
        review.propose(PROPOSED);
        review.world.nvim.command(then);
        let is_back = "vim.g.was_left == true and vim.fn.bufname():find('^pillion://') ~= nil";
        review.world.nvim.command("let g:was_left = v:false");
        review.type_until("<C-w>h:let g:was_left = v:true<CR><C-w>l", is_back);
        let counts: bool = review.world.nvim.lua(
            "return vim.fn.maparg(..., 'n'):find('pillion.diff.typed', 1, true) ~= nil",
            json!([key]),
        );
        assert_eq!(counts, writes, "{before}, then {then}");
        if writes {
            review.world.nvim.input(&format!("Gomine<Esc>{key}"));
            review.is_accepted(EDITED);
        } else {
            review.type_until(
                &format!("{key}:let g:was_left = v:false<CR>"),
                "vim.g.was_left == false",
            );
            review.is_pending(then);
            review.world.nvim.input(":w<CR>");
            review.is_accepted(PROPOSED);
        }
    }
}

/// Writes a part or a copy elsewhere; what autocommands then write was not typed.
const COPIES: &[&str] = &[
    ":w other.txt<CR>",
    ":w! other.txt<CR>",
    ":w >> other.txt<CR>",
    ":w !cat > other.txt<CR>:doautocmd BufWritePost<CR>",
    ":1,2w! other.txt<CR>",
    ":up! other.txt<CR>",
    ":W other.txt<CR>",
    ":Copy other.txt<CR>",
    " o",
];

#[each_neovim]
fn a_copy_that_is_written_elsewhere_accepts_nothing(version: NvimVersion) {
    let mut review = Review::with(
        version,
        "vim.o.shortmess = vim.o.shortmess .. 'a'
             vim.keymap.set('n', ' o', ':w! other.txt<CR>')
             vim.cmd [[
               command! -nargs=? W w! <args>
               command! -nargs=? Copy write! <args>
               autocmd BufWritePost,FileWritePost,FileAppendPost * ++nested silent! wall | let g:saved = g:saved + 1
             ]]",
    );
    review.propose(PROPOSED);
    review.type_until("Gomine<Esc>", "vim.bo.modified");
    for copy in COPIES {
        review.world.nvim.command("let g:saved = 0");
        review.type_until(copy, "vim.g.saved > 0");
        let state: Value = review.world.nvim.lua(
            "return { #require('pillion.diff').list(), vim.bo.modified, vim.b.pillion_diff ~= nil }",
            json!([]),
        );
        assert_eq!(state, json!([1, true, true]), "after {copy}");
        let whole =
            std::fs::read_to_string(review.world.home.workspace().join("other.txt")).unwrap();
        assert!(whole.starts_with("one\n2\n"), "after {copy}: {whole}");
    }
    review.is_pending("a copy");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(EDITED);
    review.propose(PROPOSED);
    review.world.nvim.input("Gomine<Esc>:wq another.txt<CR>");
    review.is_rejected();
    assert_eq!(
        std::fs::read_to_string(review.world.home.workspace().join("another.txt")).unwrap(),
        EDITED
    );
}

#[each_neovim]
fn wa_says_in_an_unedited_proposal_too_that_it_accepts_nothing(version: NvimVersion) {
    let mut review = Review::new(version);
    review.propose(PROPOSED);
    let says_it =
        format!("vim.api.nvim_exec('messages', true):find('{EXPLAINED}', 1, true) ~= nil");
    review.type_until(":wa<CR>", &says_it);
    review.type_until(":wall<CR>:let g:done = v:true<CR>", "vim.g.done == true");
    assert_eq!(review.world.nvim.messages().matches(EXPLAINED).count(), 1);
    review.is_pending(":wa");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}
