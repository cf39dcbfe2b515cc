--- `:checkhealth pillion`: what works, what does not, and what to do.

local client = require("pillion.client")
local config = require("pillion.config")
local version = require("pillion.version")

local M = {}

--- Longer than any program takes to say its version.
local TIMEOUT_MS = 3000

local start, ok, info, warn, fail = vim.health.start, vim.health.ok, vim.health.info, vim.health.warn, vim.health.error

local INSTALL = "cargo install --path crates/pillion, in a clone of Pillion"

local function shown(text)
  return (require("pillion.notify").visible(text):gsub("\n", "^J"))
end

--- Runs the program and returns its exit code and its first line; nil if it does not end.
local function ask(program, ...)
  local lines = {}
  local function keep(_, data)
    vim.list_extend(lines, data)
  end
  local command = vim.deepcopy(config.get().command)
  command[1] = program
  local started, job = pcall(vim.fn.jobstart, vim.list_extend(command, { ... }), {
    on_stdout = keep,
    on_stderr = keep,
    stdout_buffered = true,
    stderr_buffered = true,
  })
  if not started or job <= 0 then
    return nil
  end
  local code = vim.fn.jobwait({ job }, TIMEOUT_MS)[1]
  if code < 0 then
    vim.fn.jobstop(job)
    return nil
  end
  for _, line in ipairs(lines) do
    if line ~= "" then
      return code, line
    end
  end
  return code, ""
end

local function first_two(text)
  return text:match("^(%d+%.%d+)")
end

local function check_version(said)
  local number = said:match("^pillion (%d+%.%d+%.%d+)")
  if not number then
    fail(("it is not Pillion: `--version` prints %s"):format(shown(said)), {
      "Set the option `command`, such as { '/path/to/pillion' }",
    })
  elseif first_two(number) == first_two(version) then
    ok(("version %s, the plugin is %s"):format(number, version))
  else
    warn(("the program is version %s, the plugin is %s"):format(number, version), {
      "Update the older one: their versions have to match",
      "To update the plugin without a plugin manager: pillion install nvim",
    })
  end
end

local function check_program()
  start("pillion: program")
  local command = config.get().command
  local program = vim.fn.exepath(command[1])
  if program == "" then
    fail(("%s was not found"):format(shown(command[1])), {
      "Install it: " .. INSTALL,
      "If it is installed: set the option `command`, such as { '/path/to/pillion' }",
      "Then :Pillion start",
    })
    return
  end
  ok(("found: %s"):format(shown(program)))
  local code, said = ask(program, "--version")
  if code ~= 0 then
    fail(("`%s --version` %s"):format(shown(program), code and "failed: " .. shown(said) or "does not finish"), {
      "Reinstall it: " .. INSTALL,
    })
    return
  end
  check_version(said)
  code, said = ask(program, "lsp", "--help")
  if code ~= 0 then
    fail(("it does not support `lsp`: %s"):format(shown(said or "it does not finish")), {
      "Update it: " .. INSTALL,
      "Then :Pillion start",
    })
  end
end

local function check_files(files)
  local there, folders = 0, {}
  for _, path in ipairs(files) do
    if vim.uv.fs_stat(path) then
      there = there + 1
      folders[shown(vim.fn.fnamemodify(path, ":h"))] = true
    else
      fail(("the discovery file %s is missing, so agents cannot find Pillion"):format(shown(path)), {
        "It is restored within ten seconds; if not: :Pillion restart",
      })
    end
  end
  if there > 0 then
    local where = vim.tbl_keys(folders)
    table.sort(where)
    ok(("%d discovery file%s in %s"):format(there, there == 1 and "" or "s", table.concat(where, ", ")))
  end
  if #files == 0 then
    fail("there is no discovery file, so agents cannot find Pillion", { ":Pillion restart" })
  end
end

local function check_agents(agents)
  for _, agent in ipairs(agents) do
    ok(("connected: %s"):format(shown(agent.displayName or agent.name)))
  end
  if #agents == 0 then
    local example = require("pillion.agents").example()
    info(("no agent is connected. Start one with :Pillion run %s; in a running one, type /ide enable"):format(example))
  end
end

local function check_companion()
  start("pillion: companion")
  if not client.is_running() then
    if client.phase() == "stopped" then
      local last = client.last_end
      if last then
        fail(("it exited (%s): %s"):format(last.how, shown(last.said)), { ":Pillion start" })
      else
        warn("it is not running", { ":Pillion start" })
      end
    else
      info("it is " .. client.phase())
    end
    return
  end
  local state = client.state
  ok(("it is running on port %s, process %s"):format(state.port or "?", state.pid or "?"))
  check_files(state.files)
  for _, warning in ipairs(state.warnings) do
    warn(shown(warning))
  end
  for _, note in ipairs(state.notes) do
    info(shown(note))
  end
  check_agents(state.agents)
end

local function check_roots()
  start("pillion: workspace roots")
  local roots = require("pillion.client").state.roots
  for _, path in ipairs(roots or {}) do
    info(shown(path))
  end
  if not roots then
    info("not known while Pillion does not run")
  elseif #roots == 0 then
    fail("there is none, so no agent connects", { "Change to a folder: :cd", "Or set the option `roots`" })
  else
    info("agents running in or below one of them connect")
  end
end

local function check_options()
  start("pillion: the options")
  local given, problems = config.given()
  for _, problem in ipairs(problems) do
    warn(shown(problem), { ":help pillion-options" })
  end
  if next(given) == nil then
    info("all defaults")
  else
    info("set: " .. shown(vim.inspect(given, { newline = " ", indent = "" })))
  end
end

function M.check()
  check_program()
  check_companion()
  check_roots()
  check_options()
end

return M
