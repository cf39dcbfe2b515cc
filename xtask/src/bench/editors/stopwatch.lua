--- For the benchmark: sums up what the plugin spends in Neovim's own thread. Loaded before it.

local spent = 0
local depth = 0

local function timed(run)
  return function(...)
    if depth > 0 then
      return run(...)
    end
    depth = 1
    local start = vim.loop.hrtime()
    local ok, result = pcall(run, ...)
    spent = spent + (vim.loop.hrtime() - start)
    depth = 0
    if not ok then
      error(result, 0)
    end
    return result
  end
end

local create_autocmd, schedule = vim.api.nvim_create_autocmd, vim.schedule

vim.api.nvim_create_autocmd = function(events, options)
  if options.callback then
    options = vim.tbl_extend("force", options, { callback = timed(options.callback) })
  end
  return create_autocmd(events, options)
end

vim.schedule = function(run)
  schedule(timed(run))
end

--- What was spent since it was asked for last, in nanoseconds.
function _G.stopwatch()
  local sum = spent
  spent = 0
  return sum
end
