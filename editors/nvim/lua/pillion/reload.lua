--- What agents write reaches the buffers: an unmodified one is read again, a modified one is left
--- alone with a message. There are no prompts, and nothing is lost.
---
--- Here is when to look; what a look does is in `reload/check.lua`. Neovim itself looks only when
--- it gets the focus, which an agent in its own terminal never takes away.

local check = require("pillion.reload.check")
local notify = require("pillion.notify")
local watch = require("pillion.reload.watch")

local M = {}

--- The time between two looks, in milliseconds: at first after something changed or is expected, more and more seldom
--- until `REST`; and where the system does not tell of changes.
local SOON, REST, BLIND = 20, 1000, 10000

--- The time for which a file is watched that an agent is about to write.
local EXPECTED_FOR = 10000

local group
local timer
local delay = REST
local is_looking = false

--- Until when each path is watched.
local expected = {}

--- True if the system tells of changes to all files that matter; true if it told of one that was not looked at.
local is_told, has_news = true, false

--- True if an agent may write at all.
local function is_agent_here()
  return #require("pillion.client").state.agents > 0 or require("pillion.terminal").is_any_running()
end

--- Reading a file in the middle of a command line or of a half typed command would disturb.
local function is_busy()
  local mode = vim.api.nvim_get_mode()
  return mode.blocking
    or mode.mode:find("^[cr!]") ~= nil
    or mode.mode:find("^no") ~= nil
    or vim.fn.getcmdwintype() ~= ""
end

--- What the person sees, and what they changed: Neovim asks about that when they go there.
local function buffers_in_use()
  local buffers = {}
  for _, info in ipairs(vim.fn.getbufinfo({ bufmodified = 1 })) do
    buffers[info.bufnr] = true
  end
  for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
    for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
      buffers[vim.api.nvim_win_get_buf(win)] = true
    end
  end
  return buffers
end

local function expected_buffers()
  local buffers = {}
  for path, until_when in pairs(expected) do
    if vim.uv.now() > until_when then
      expected[path] = nil
    else
      local buf = require("pillion.buffers").find(path)
      if buf then
        buffers[buf] = true
      end
    end
  end
  return buffers
end

--- True if something changed. Reading a file runs people's autocommands, and these may lead here.
local function look_at(buffers)
  if is_looking then
    return false
  end
  is_looking = true
  local changed = false
  for buf in pairs(buffers) do
    local ok, result = pcall(check.look, buf)
    if not ok then
      notify.once("warn", "cannot reload a changed file: " .. tostring(result))
    end
    changed = changed or (ok and result)
  end
  is_looking = false
  return changed
end

local function stop_timer()
  if timer then
    timer:stop()
    timer:close()
    timer = nil
  end
end

local schedule_look

--- Has the system tell of changes to these buffers' files.
local function watch_files(buffers)
  local paths = vim.tbl_keys(expected)
  for buf in pairs(buffers) do
    local name = vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) or ""
    table.insert(paths, name ~= "" and name or nil)
  end
  is_told = watch.follow(paths, function()
    if not has_news then
      has_news = true
      vim.schedule(function()
        schedule_look(SOON)
      end)
    end
  end)
end

--- When to look next, if at all.
local function plan_next(changed)
  if changed then
    -- A program that writes may write again.
    schedule_look(SOON)
  elseif has_news or next(expected) ~= nil then
    schedule_look(math.min(delay * 1.5, REST))
  elseif not is_told then
    schedule_look(BLIND)
  else
    stop_timer()
  end
end

local function tick()
  if not is_agent_here() and next(expected) == nil then
    stop_timer()
    watch.stop()
    return
  end
  if is_busy() then
    plan_next(false)
    return
  end
  has_news = false
  local changed = look_at(expected_buffers())
  local buffers = is_agent_here() and buffers_in_use() or {}
  changed = look_at(buffers) or changed
  watch_files(buffers)
  plan_next(changed)
end

function schedule_look(after)
  delay = after
  timer = timer or vim.uv.new_timer()
  timer:start(
    math.floor(after),
    0,
    vim.schedule_wrap(function()
      if timer then
        tick()
      end
    end)
  )
  timer:unref()
end

--- Looks at what is visible, now.
function M.check()
  if is_agent_here() and not is_busy() then
    local buffers = buffers_in_use()
    local changed = look_at(buffers)
    watch_files(buffers)
    if changed or not timer then
      plan_next(changed)
    end
  end
end

--- Looks at these buffers now, before something is done with their text. False in the middle of a command.
function M.look_before(buffers)
  if is_busy() then
    return false
  end
  look_at(buffers)
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

--- An agent is about to write the file: look at its buffer until it has.
function M.expect(path)
  expected[path] = vim.uv.now() + EXPECTED_FOR
  -- What is there before the agent writes.
  look_at(expected_buffers())
  schedule_look(SOON)
end

--- A buffer and its file are the same now: Pillion tells by that what the person saves apart from what agents write.
--- What another program types here is not the person's.
local function report_sync(event)
  if require("pillion.context.file").path(event.buf) then
    require("pillion.client").notify("pillion/didSync", {
      uri = require("pillion.uri").from_path(vim.fs.normalize(event.match)),
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
  stop_timer()
  watch.stop()
  expected, has_news = {}, false
  if group then
    pcall(vim.api.nvim_del_augroup_by_id, group)
    group = nil
  end
end

return M
