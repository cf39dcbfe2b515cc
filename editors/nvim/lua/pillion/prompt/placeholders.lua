--- The placeholders in a prompt: `{file}`, `{line}`, `{selection}`, `{this}`, `{diagnostics}`.

local send = require("pillion.send.text")

local M = {}

local SEVERITIES = { "error", "warning", "info", "hint" }

--- The subject of the prompt: `{ buf, path, line, first, last, text }`, the last three if something is
--- selected. The file is the one in focus, or that before a terminal or the like had the focus.
function M.subject(call)
  local region = require("pillion.send.region").of(call)
  local subject = require("pillion.context").current() or {}
  if region and subject.is_in_focus then
    subject.first, subject.last, subject.text = region.first, region.last, region.read()
  end
  return subject
end

local function missing(name, why)
  error({ message = ("the prompt needs {%s}, but %s"):format(name, why) })
end

local function path_of(name, subject)
  return send.check(subject.path or missing(name, "no file is open. Hint: open one"))
end

local function described(diagnostic, name)
  local severity = SEVERITIES[diagnostic.severity] or SEVERITIES[1]
  local source = diagnostic.source and (" [%s]"):format(diagnostic.source) or ""
  return ("%s:%d:%d: %s: %s%s"):format(
    name,
    diagnostic.lnum + 1,
    diagnostic.col + 1,
    severity,
    (diagnostic.message:gsub("%s+", " ")),
    source
  )
end

local function touches(diagnostic, subject)
  local last = diagnostic.end_lnum or diagnostic.lnum
  return not subject.first or (diagnostic.lnum + 1 <= subject.last and last + 1 >= subject.first)
end

local values = {}

function values.file(subject, to)
  return send.item({ path = path_of("file", subject) }, to)
end

function values.line(subject, to)
  return send.item({ path = path_of("line", subject), first = subject.line, last = subject.line }, to)
end

function values.selection(subject, to)
  if not subject.text or subject.text == "" then
    missing("selection", "nothing is selected. Hint: select text and run the command from there")
  end
  local name = send.relative(path_of("selection", subject), to.cwd)
  return ("%s %s:\n%s\n"):format(name, send.lines(subject.first, subject.last), send.fenced(subject.text))
end

function values.this(subject, to)
  return (subject.text and values.selection or values.line)(subject, to)
end

--- Those of the selected lines, or of the whole file.
function values.diagnostics(subject, to)
  local path = path_of("diagnostics", subject)
  local name = send.relative(path, to.cwd)
  local lines = {}
  local all = vim.diagnostic.get(subject.buf)
  table.sort(all, function(one, other)
    return one.lnum < other.lnum or (one.lnum == other.lnum and one.col < other.col)
  end)
  for _, diagnostic in ipairs(all) do
    table.insert(lines, touches(diagnostic, subject) and described(diagnostic, name) or nil)
  end
  if #lines == 0 then
    missing("diagnostics", ("there are none in %s"):format(name))
  end
  return table.concat(lines, "\n")
end

--- Puts in what the placeholders stand for, as the agent in `to` reads it. Nothing that is put in is
--- looked at again. `is_strict`: an unknown placeholder is an error.
function M.fill(words, subject, to, is_strict)
  return (
    words:gsub("{(%l+)}", function(name)
      local value = values[name]
      if value then
        return value(subject, to)
      elseif is_strict then
        local known = vim.tbl_keys(values)
        table.sort(known)
        local hint = "{" .. table.concat(known, "}, {") .. "}"
        error({ message = ("unknown placeholder {%s}. Hint: use one of %s"):format(name, hint) })
      end
    end)
  )
end

return M
