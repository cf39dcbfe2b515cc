--- The problems that Neovim shows, for agents (`pillion/diagnostics`).

local utf16 = require("pillion.context.utf16")
local uri = require("pillion.uri")

local uv = vim.uv

local M = {}

--- As many as Pillion passes on.
local MAX = 1000

--- The path of a buffer that is a file, also of one that is not loaded.
local function path_of(buf)
  local name = vim.api.nvim_buf_is_valid(buf) and vim.api.nvim_buf_get_name(buf) or ""
  local is_file = name ~= "" and vim.bo[buf].buftype == "" and not name:find("^%a[%w+.-]*://")
  return is_file and name or nil
end

--- The paths that a URI may mean: agents do not encode what is in it.
local function paths_in(wanted)
  local raw = wanted:match("^file://(.*)$")
  if not raw then
    return {}
  end
  local ok, decoded = pcall(vim.uri_to_fname, wanted)
  return { raw, ok and decoded ~= raw and decoded or nil }
end

local function is_at(path, wanted)
  return path == wanted or (uv.fs_realpath(path) or path) == (uv.fs_realpath(wanted) or wanted)
end

--- All diagnostics by buffer.
local function by_buffer()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get()) do
    found[one.bufnr] = found[one.bufnr] or {}
    table.insert(found[one.bufnr], one)
  end
  return found
end

--- Those of the first of these paths that has any: `{ [buf] = diagnostics }`.
local function of_file(paths)
  local all = by_buffer()
  for _, wanted in ipairs(paths) do
    for buf, list in pairs(all) do
      local path = path_of(buf)
      if path and is_at(path, wanted) then
        return { [buf] = list }
      end
    end
  end
  return {}
end

--- A place in a buffer: `byte` may be beyond its line or inside of a character.
local function position(buf, line, byte)
  local text = vim.api.nvim_buf_get_lines(buf, line, line + 1, false)[1]
  if not text then
    return { line = line, character = byte }
  end
  byte = math.min(byte, #text)
  while byte > 0 and (text:byte(byte + 1) or 0) >= 0x80 and text:byte(byte + 1) < 0xC0 do
    byte = byte - 1
  end
  return { line = line, character = utf16.length(text:sub(1, byte)) }
end

local function code_of(one)
  local lsp = type(one.user_data) == "table" and one.user_data.lsp or {}
  local code = one.code or (type(lsp) == "table" and lsp.code) or nil
  if type(code) == "number" and code == math.floor(code) then
    return code
  end
  return (type(code) == "string" or type(code) == "number") and utf16.valid(tostring(code)) or nil
end

local function described(buf, one)
  local line, col = math.max(one.lnum, 0), math.max(one.col or 0, 0)
  return {
    range = {
      start = position(buf, line, col),
      ["end"] = position(buf, math.max(one.end_lnum or line, 0), math.max(one.end_col or col, 0)),
    },
    severity = one.severity,
    message = utf16.valid(tostring(one.message)),
    source = one.source and utf16.valid(tostring(one.source)) or nil,
    code = code_of(one),
  }
end

--- The worst first, then in the order of the lines, and no more than agents get.
local function sorted(found)
  local list = {}
  for buf, diagnostics in pairs(found) do
    if path_of(buf) then
      for _, one in ipairs(diagnostics) do
        table.insert(list, { buf = buf, one = one, severity = one.severity or 1 })
      end
    end
  end
  table.sort(list, function(a, b)
    if a.severity ~= b.severity then
      return a.severity < b.severity
    elseif a.buf ~= b.buf then
      return a.buf < b.buf
    elseif a.one.lnum ~= b.one.lnum then
      return a.one.lnum < b.one.lnum
    end
    return (a.one.col or 0) < (b.one.col or 0)
  end)
  return vim.list_slice(list, 1, MAX)
end

--- Answers the request: of the file of this URI, or of all.
function M.answer(params)
  local wanted = params.uri
  local files, index = {}, {}
  for _, item in ipairs(sorted(wanted and of_file(paths_in(wanted)) or by_buffer())) do
    if not index[item.buf] then
      index[item.buf] = { uri = wanted or uri.from_path(path_of(item.buf)), diagnostics = {} }
      table.insert(files, index[item.buf])
    end
    table.insert(index[item.buf].diagnostics, described(item.buf, item.one))
  end
  return { files = files }
end

return M
