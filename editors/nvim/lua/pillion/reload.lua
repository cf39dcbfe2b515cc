--- What agents write reaches the buffers: an unmodified one is read again, a modified one is left
--- alone with a message. There are no prompts, and nothing is lost.
---
--- Here is when to look: Pillion tells which files have changed. What a look does is in `reload/check.lua`. Neovim
--- itself looks only when it gets the focus, which an agent in its own terminal never takes away.

local buffers = require("pillion.buffers")
local check = require("pillion.reload.check")
local notify = require("pillion.notify")
local uri = require("pillion.uri")

local M = {}

--- The time for which a file is watched that an agent is about to write, and the time until it is looked again whether
--- the person is busy.
local EXPECTED_FOR, AGAIN = 10000, 250

local group
local is_looking = false

--- Until when each path is watched.
local expected = {}

--- The paths that Pillion watches, by URI; the sizes of the files that have changed since they were looked at, by path.
local watched, news = {}, {}

--- True if an agent may write at all.
local function is_agent_here()
  return #require("pillion.client").state.agents > 0 or require("pillion.terminal").is_any_running()
end

--- Reading a file in the middle of a command line or of a half typed command would disturb.
local function is_busy()
  local mode = vim.api.nvim_get_mode()
  return is_looking
    or mode.blocking
    or mode.mode:find("^[cr!]") ~= nil
    or mode.mode:find("^no") ~= nil
    or vim.fn.getcmdwintype() ~= ""
end

--- What the person sees, and what they changed: Neovim asks about that when they go there.
local function buffers_in_use()
  local found = {}
  for _, info in ipairs(vim.fn.getbufinfo({ bufmodified = 1 })) do
    found[info.bufnr] = true
  end
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
      found[vim.api.nvim_win_get_buf(win)] = true
    end
  end
  return found
end

--- Looks at these buffers, which may have the sizes of files that nobody is writing; the ones that have to be looked at
--- again. Reading a file runs people's autocommands, and these may lead here.
local function look_at(those)
  local again = {}
  if is_looking then
    return again
  end
  is_looking = true
  for buf, size in pairs(those) do
    local ok, result = pcall(check.look, buf, size)
    if not ok then
      notify.once("warn", "cannot reload a changed file: " .. tostring(result))
    end
    again[buf] = ok and result or nil
  end
  is_looking = false
  return again
end

--- Has Pillion tell when these files change: those in use, and those that an agent is about to write.
local function watch()
  local wanted = {}
  for path, until_when in pairs(expected) do
    if vim.uv.now() >= until_when then
      expected[path] = nil
    else
      wanted[uri.from_path(path)] = path
    end
  end
  for buf in pairs(is_agent_here() and buffers_in_use() or {}) do
    local name = vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) or ""
    wanted[uri.from_path(name)] = name ~= "" and name or nil
  end
  local params = { files = vim.tbl_keys(wanted) }
  if not vim.deep_equal(wanted, watched) and require("pillion.client").notify("pillion/watch", params) then
    watched = wanted
  end
end

local function look_at_news()
  if not is_busy() then
    local those, paths = {}, {}
    for path, size in pairs(news) do
      local buf = buffers.find(path)
      if buf then
        those[buf], paths[buf] = size, path
      end
    end
    news = {}
    for buf in pairs(look_at(those)) do
      news[paths[buf]] = those[buf]
    end
  end
  if next(news) then
    vim.defer_fn(look_at_news, AGAIN)
  end
end

--- A file has another state on the disk.
function M.changed(params)
  local path, is_waiting = watched[params.uri], next(news) ~= nil
  if path then
    news[path] = type(params.size) == "number" and params.size or -1
    if not is_waiting then
      look_at_news()
    end
  end
end

--- Looks at what is in use, now.
function M.check()
  if is_agent_here() and not is_busy() then
    look_at(buffers_in_use())
  end
  watch()
end

--- Looks at these buffers now, before something is done with their text. False in the middle of a command.
function M.look_before(those)
  if is_busy() then
    return false
  end
  look_at(those)
  return true
end

--- Pillion itself has written files: looks at all that are open, now.
function M.look_everywhere()
  local all = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    all[buf] = vim.api.nvim_buf_is_loaded(buf) or nil
  end
  look_at(all)
end

--- An agent is about to write the file: it is watched until it has.
function M.expect(path)
  expected[path] = vim.uv.now() + EXPECTED_FOR
  local buf = buffers.find(path)
  if buf then
    -- What is there before the agent writes.
    look_at({ [buf] = true })
  end
  watch()
  vim.defer_fn(watch, EXPECTED_FOR)
end

--- A buffer and its file are the same now: Pillion tells by that what the person saves apart from what agents write.
--- What another program types here is not the person's.
local function report_sync(event)
  if require("pillion.context.file").path(event.buf) then
    require("pillion.client").notify("pillion/didSync", {
      uri = uri.from_path(vim.fs.normalize(event.match)),
      saved = event.event == "BufWritePost" and not require("pillion.others").may_have_typed(),
    })
  end
end

--- From now on what agents write is looked for.
function M.attach()
  group = vim.api.nvim_create_augroup(check.GROUP, {})
  local function on(events, callback, pattern)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      pattern = pattern or "*",
      callback = callback,
      -- What happens to a file that is read should happen here, too.
      nested = true,
    })
  end
  on({ "FocusGained", "BufEnter", "BufModifiedSet", "BufWinEnter", "CursorHold", "TermLeave", "TermClose" }, M.check)
  on("User", M.check, { "PillionDiffClosed", "PillionStatusChanged" })
  -- Neovim looks by itself when a hidden buffer is entered, before any other event.
  on("FileChangedShell", function(event)
    check.answer_for(event.buf, is_agent_here())
  end)
  on({ "BufNewFile", "BufWritePost" }, function(event)
    check.remember(event.buf)
  end)
  on({ "BufReadPost", "BufWipeout" }, function(event)
    check.forget(event.buf)
  end)
  on({ "BufReadPost", "BufWritePost" }, report_sync)
  on("VimLeavePre", M.detach)
end

--- From now on it is not.
function M.detach()
  expected, watched, news = {}, {}, {}
  if group then
    pcall(vim.api.nvim_del_augroup_by_id, group)
    group = nil
  end
end

return M
