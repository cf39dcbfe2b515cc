--- Quitting with proposals that wait: Neovim refuses what would throw them away unsaid, as it does with
--- buffers that are not written and with terminals that run. `!` throws them away.

local label = require("pillion.diff.label")
local notify = require("pillion.notify")

local M = {}

--- True if a proposal is not as it came or was sent.
local function is_modified(diff)
  return vim.bo[diff.right].modified and not diff.is_marked
end

--- True if the person edited a proposal.
function M.is_edited(diff)
  return is_modified(diff) or (diff.deciding or {}).was_modified == true
end

--- Makes Neovim take a proposal for edited while the command is carried out.
local function mark(diff)
  if not vim.api.nvim_buf_is_loaded(diff.right) or vim.bo[diff.right].modified then
    return
  end
  diff.is_marked = true
  vim.bo[diff.right].modified = true
  vim.schedule(function()
    if diff.is_marked and vim.api.nvim_buf_is_loaded(diff.right) then
      vim.bo[diff.right].modified = false
    end
    diff.is_marked = nil
  end)
end

local function is_deciding(diff)
  return diff.deciding ~= nil
end

local is_saying = false

--- What `!` would reject; if Neovim is still there.
local function say_what_waits(pending)
  if is_saying then
    return
  end
  is_saying = true
  vim.schedule(function()
    is_saying = false
    local diffs = pending.sorted()
    if #diffs == 1 then
      notify.unasked(
        "warn",
        ("%s's change to %s is pending: :qa! rejects it"):format(diffs[1].agent, label.path(diffs[1]))
      )
    elseif #diffs > 1 then
      notify.unasked("warn", ("%d diffs pending: :PillionDiffs lists, :qa! rejects them"):format(#diffs))
    end
  end)
end

--- Writes what `:wqa` would have written before it fails.
local function write_others()
  vim.schedule(function()
    local ok, problem = pcall(vim.cmd, "wall")
    if not ok then
      notify.unasked("error", (problem:gsub("^.-Vim%(?%w*%)?:", "")))
    end
  end)
end

--- Before a command that was typed, see `diff/command_line.lua`. True if it must not be carried out: Neovim
--- would say more than once that something is not written, and name a buffer that nobody knows.
function M.prepare(kind, buf, is_forced, pending)
  local here = pending.of_buffer(buf)
  if (kind == "quit_all" or kind == "exit_all") and not pending.is_empty() then
    if not is_forced and vim.iter(pending.sorted()):all(is_deciding) then
      return
    end
    say_what_waits(pending)
    if not is_forced then
      if kind == "exit_all" then
        write_others()
      end
      return true
    end
    vim.tbl_map(mark, pending.sorted())
  elseif kind == "exit" and here then
    -- `:x` writes only what is modified, but "write and quit" here means the proposal.
    mark(here)
  elseif kind == "update" and here and not vim.bo[buf].modified then
    vim.schedule(function()
      notify.unasked("info", ":update writes only what you edited: :w accepts")
    end)
  end
end

--- `:q` of a proposal that was edited: Neovim says E37 unless something else hides the buffer.
local function refuse(diff)
  local is_all = is_saying
  vim.bo[diff.right].bufhidden = "unload"
  vim.schedule(function()
    if vim.api.nvim_buf_is_loaded(diff.right) then
      vim.bo[diff.right].bufhidden = "hide"
      -- When Neovim quits, what waits is shown.
      if not is_all then
        notify.unasked("warn", "you edited this proposal: :w accepts it, :q! rejects it")
      end
    end
  end)
end

--- True if only one window is left, so that `:q` in it ends Neovim as `:qa` does.
local function is_last_window()
  local wins = vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_config(win).relative == ""
  end, vim.api.nvim_list_wins())
  return #wins == 1
end

--- Neovim is about to end: by a map, by a script, by `:restart`, by the last window. A proposal in that one is closed
--- with it.
function M.on_exit(pending)
  pending.finish()
  local win, here = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  for _, diff in ipairs(pending.sorted()) do
    if not is_last_window() or diff.right ~= here then
      mark(diff)
    end
  end
  say_what_waits(pending)
  if pending.of_buffer(here) then
    return
  end
  -- Neovim asks for Enter, about a buffer that nobody knows, and shows that in this window.
  vim.api.nvim_feedkeys(vim.keycode("<Cmd><CR>"), "nit", false)
  vim.schedule(function()
    if vim.api.nvim_win_is_valid(win) and pending.of_buffer(vim.api.nvim_win_get_buf(win)) then
      vim.api.nvim_win_set_buf(win, here)
    end
  end)
end

function M.attach(group, pending)
  vim.api.nvim_create_autocmd("QuitPre", {
    group = group,
    callback = function(event)
      local here = pending.of_buffer(event.buf)
      if here and is_modified(here) then
        here.is_quit = true
        vim.schedule(function()
          here.is_quit = nil
        end)
        if #vim.fn.win_findbuf(here.right) == 1 then
          refuse(here)
        end
      end
      -- A `:qall` of a map or of a script; the others do not look at buffers elsewhere.
      for _, diff in ipairs(pending.sorted()) do
        if diff ~= here then
          mark(diff)
        end
      end
    end,
  })
end

return M
