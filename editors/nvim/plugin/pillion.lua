--- The commands, the `<Plug>` maps, and starting on the first real file.
---
--- Everything else is loaded when it is needed, so that this costs nothing while Neovim starts.

if vim.g.loaded_pillion then
  return
elseif vim.fn.has("nvim-0.10") == 0 then
  vim.notify("Pillion needs Neovim 0.10 or newer, so it does not start", vim.log.levels.ERROR)
  return
end
vim.g.loaded_pillion = true

-- 'autochdir' has not moved it yet.
vim.g.pillion_start_folder = vim.uv.cwd()

local function command(name, run, options)
  vim.api.nvim_create_user_command(name, run, options)
end

command("Pillion", function(call)
  require("pillion.command").run(call)
end, {
  nargs = "*",
  range = true,
  bar = true,
  desc = "Pillion: start, stop, look, decide",
  complete = function(...)
    return require("pillion.command").complete(...)
  end,
})

local short = {
  Accept = { "accept", "accept the diff" },
  -- The rest of the line is what the agent is told, with any `|` and `"`.
  Reject = { "reject", "reject the diff, and tell the agent why", is_text = true },
  Note = { "note", "add a note for the agent to lines of a proposal", is_text = true, has_bang = true },
  Diffs = { "diffs", "list the diffs" },
  Merge = { "merge", "take your unsaved changes into the proposal" },
  TakeHunk = { "take-hunk", "take the hunk under the cursor" },
  DropHunk = { "drop-hunk", "drop the hunk under the cursor" },
  NextHunk = { "next-hunk", "go to the next hunk" },
  PreviousHunk = { "previous-hunk", "go to the previous hunk" },
  Changes = { "changes", "list what agents have written", has_bang = true },
  Keep = { "keep", "keep what an agent has written", is_text = true, has_bang = true },
  Look = { "look", "show what an agent has written beside what was there before" },
  Log = { "decisions", "show what was decided, and what came of it" },
  NextChange = { "next-change", "go to the next hunk that an agent has written here" },
  PreviousChange = { "previous-change", "go to the previous hunk that an agent has written here" },
  TakeBack = { "take-back", "take back the hunk at the cursor, and say why", is_text = true, has_bang = true },
  Undo = { "undo", "undo what was taken back or kept last" },
  SendNotes = { "send-notes", "send your notes to the agent now" },
  Review = { "review", "choose when agents ask before they change files" },
  Add = { "add", "put a file, or lines of it, into the agent's prompt" },
  Send = { "send", "put files, lines or the selection into the agent's prompt" },
}

for name, row in pairs(short) do
  local subcommand, description = row[1], row[2]
  command("Pillion" .. name, function(call)
    call.words = call.args
    require("pillion.command").dispatch(subcommand, call.fargs, call)
  end, {
    nargs = "*",
    range = true,
    bar = not row.is_text,
    bang = row.has_bang or false,
    desc = "Pillion: " .. description,
    complete = function(...)
      return require("pillion.command").complete_short(subcommand, ...)
    end,
  })
  local plug = ("<Plug>(pillion-%s)"):format(subcommand)
  -- One that needs words is typed.
  if subcommand ~= "add" and subcommand ~= "note" and subcommand ~= "review" then
    vim.keymap.set(
      { "n", "x" },
      plug,
      (":Pillion%s<CR>"):format(name),
      { silent = true, desc = "Pillion: " .. description }
    )
    vim.keymap.set("t", plug, ("<Cmd>Pillion%s<CR>"):format(name), { desc = "Pillion: " .. description })
  end
end

local group = vim.api.nvim_create_augroup("PillionAutoStart", {})

-- Scheduled: the options may be set, and the file be a real one, only after the event.
local function consider_soon(may_be_new, everywhere)
  vim.schedule(function()
    require("pillion.autostart").consider(group, may_be_new, everywhere)
  end)
end

local EVENTS = { "BufEnter", "BufNewFile", "BufFilePost", "BufWritePost", "SessionLoadPost", "VimEnter" }

vim.api.nvim_create_autocmd(EVENTS, {
  group = group,
  desc = "Start Pillion on the first real file",
  callback = function(event)
    local is_start = event.event == "VimEnter"
    -- What netrw names its messages is not on disk, either.
    consider_soon(event.event == "BufNewFile" or is_start, is_start or event.event == "SessionLoadPost")
  end,
})

-- Before plugins that save sessions then, as far as they are loaded later.
vim.api.nvim_create_autocmd("VimLeavePre", {
  desc = "Keep Pillion's views out of sessions",
  callback = function()
    if package.loaded["pillion.diff.session"] then
      require("pillion.diff.session").end_views(require("pillion.diff.pending").sorted)
    end
  end,
})

vim.api.nvim_create_autocmd("SessionLoadPost", {
  desc = "Restore none of Pillion's views",
  callback = function()
    for _, buf in ipairs(vim.api.nvim_list_bufs()) do
      if vim.startswith(vim.api.nvim_buf_get_name(buf), "pillion") then
        -- Later: the event comes for each buffer, and Neovim is on its way from one to the next.
        vim.schedule(function()
          require("pillion.diff.session").clean()
        end)
        return
      end
    end
  end,
})

if vim.v.vim_did_enter == 1 then
  -- A package manager loads the plugin late.
  consider_soon(true, true)
end
