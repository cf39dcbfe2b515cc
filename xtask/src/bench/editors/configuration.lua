--- For the benchmark: the maps and commands that a full configuration makes.

--- Commands have names of letters only.
local function name(number)
  return ("Do%s%s"):format(string.char(97 + number % 26), string.char(97 + math.floor(number / 26)))
end

for number = 0, 149 do
  vim.api.nvim_create_user_command(name(number), "echo <q-args>", { nargs = "*" })
end
for number = 0, 299 do
  vim.keymap.set("n", ("<Space>m%dm"):format(number), ("<Cmd>%s %d<CR>"):format(name(number % 150), number))
end
