--- The functions for people's configuration.

local M = {}

--- Sets options. Not needed if the defaults suit.
function M.setup(options)
  for _, problem in ipairs(require("pillion.config").set(options)) do
    require("pillion.notify").warn(("setup: %s. Hint: see :help pillion-options"):format(problem))
  end
end

function M.start()
  require("pillion.client").start()
end

function M.stop()
  require("pillion.client").stop()
end

function M.restart()
  require("pillion.client").restart()
end

--- A short text for the status line, empty if Pillion does not run.
function M.statusline()
  return require("pillion.status").line()
end

function M.accept(id)
  return require("pillion.diff").accept(id)
end

function M.reject(id, reason)
  return require("pillion.diff").reject(id, reason)
end

function M.take_hunk()
  return require("pillion.diff").take_hunk()
end

function M.drop_hunk()
  return require("pillion.diff").drop_hunk()
end

return M
