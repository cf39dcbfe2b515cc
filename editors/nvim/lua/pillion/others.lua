--- The programs that are connected to this Neovim and are no user interface: an agent's shell can be one (`nvim
--- --server $NVIM --remote-send`). What they type and call is not the person's.
---
--- Neovim 0.11 and later note which channel sent the last input, and tell nobody; LuaJIT can look. Where it cannot,
--- what is typed while such a program is connected may be of either. What a program evaluates in Neovim may do
--- anything that this plugin does: nothing in here can refuse that.

local M = {}

M.REFUSAL = "another program types or calls this in Neovim: only you decide. Hint: press the keys again in a second"

--- So long after it has connected, keys may still be those of a program.
local CONNECTED_MS = 1000

--- Channels of plugins that call Neovim's functions in this process have numbers from here on.
local INTERNAL = 2 ^ 63

--- When each program connected, by channel; and whether one ever did.
local connected, has_connected = {}, false

--- The channel of the last input, if it is known.
local function typist()
  local ok, ffi = pcall(require, "ffi")
  if not ok then
    return nil
  end
  -- Once it is declared, this fails.
  pcall(ffi.cdef, "uint64_t current_ui;")
  local found, channel = pcall(function()
    return tonumber(ffi.C.current_ui)
  end)
  return found and channel > 0 and channel or nil
end

local function is_ui(channel)
  return vim.iter(vim.api.nvim_list_uis()):any(function(ui)
    return ui.chan == channel
  end)
end

--- True if the channel is, or was, that of a program. What Neovim has started, or has started it, is the person's.
local function is_program(channel)
  local stream = vim.api.nvim_get_chan_info(channel).stream
  return (stream == nil or stream == "socket") and not is_ui(channel)
end

local function has_just_connected()
  local now = vim.uv.now()
  for channel, at in pairs(connected) do
    if now - at > CONNECTED_MS then
      connected[channel] = nil
    elseif is_program(channel) then
      return true
    end
  end
  return false
end

local function are_connected()
  return vim.iter(vim.api.nvim_list_chans()):any(function(info)
    return info.mode == "rpc" and is_program(info.id)
  end)
end

--- True if the last key may be that of a program.
function M.may_have_typed()
  local channel = typist()
  if not channel then
    return are_connected() or has_just_connected()
  end
  -- What types from within Neovim, such as a timer, may have been left there by a program.
  local is_its = channel < INTERNAL and is_program(channel) or channel >= INTERNAL and has_connected
  return is_its or has_just_connected()
end

--- True if a program may be calling what is carried out. `is_key_done`: what the last key did is over.
function M.may_be_calling(is_key_done)
  return M.may_have_typed() or (is_key_done and are_connected())
end

--- Notes who connects from now on.
function M.attach()
  vim.api.nvim_create_autocmd("ChanOpen", {
    group = vim.api.nvim_create_augroup("PillionOthers", {}),
    callback = function()
      local info = vim.v.event.info
      if info.stream == "socket" and info.mode == "rpc" then
        connected[info.id], has_connected = vim.uv.now(), true
      end
    end,
  })
end

return M
