-- What is useful to somebody who wonders why a test failed.
local out = {}
local function say(...) out[#out + 1] = string.format(...) end
say('mode %s, in %s', vim.api.nvim_get_mode().mode, vim.fn.getcwd())
for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
  say('tab %d%s', tab, tab == vim.api.nvim_get_current_tabpage() and ' (current)' or '')
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    local cursor = vim.api.nvim_win_get_cursor(win)
    say('  window %d: buffer %d, line %d, column %d%s%s%s', win, vim.api.nvim_win_get_buf(win),
      cursor[1], cursor[2], vim.api.nvim_win_get_option(win, 'diff') and ', diff' or '',
      vim.api.nvim_win_get_config(win).relative ~= '' and ', floating' or '',
      win == vim.api.nvim_get_current_win() and ' (current)' or '')
  end
end
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  local function option(name) return vim.api.nvim_buf_get_option(buf, name) end
  say('buffer %d %q: buftype %q, filetype %q%s%s%s', buf, vim.api.nvim_buf_get_name(buf),
    option('buftype'), option('filetype'), option('modified') and ', modified' or '',
    option('buflisted') and '' or ', unlisted',
    vim.api.nvim_buf_is_loaded(buf) and '' or ', not loaded')
  if vim.api.nvim_buf_is_loaded(buf) then
    for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, 12, false)) do
      say('  | %s', line:sub(1, 120))
    end
  end
end
say('messages:\n%s\n', vim.api.nvim_exec('messages', true))
return table.concat(out, '\n')
