-- What a view must leave as it was.
local tabs = {}
for _, tab in ipairs(vim.api.nvim_list_tabpages()) do
  local wins = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    local options = {}
    for _, name in ipairs({ 'diff', 'wrap', 'foldmethod', 'foldcolumn', 'scrollbind', 'cursorbind' }) do
      options[name] = vim.api.nvim_win_get_option(win, name)
    end
    table.insert(wins, {
      win, vim.api.nvim_win_get_buf(win), vim.api.nvim_win_get_width(win),
      vim.api.nvim_win_get_height(win), vim.api.nvim_win_get_cursor(win), options,
    })
  end
  table.insert(tabs, wins)
end
return {
  tabs, vim.fn.winlayout(), vim.api.nvim_get_current_win(), vim.fn.winnr('#'), vim.fn.tabpagenr('#'),
  vim.fn.bufnr('#'), vim.fn.getreg('"'), vim.fn.getreg('/'), vim.v.errmsg, vim.bo.modifiable,
  vim.bo.readonly, vim.o.eventignore, vim.o.switchbuf, vim.fn.getjumplist()[2], vim.api.nvim_list_bufs(),
}
