--- What agents are shown: open files, cursor and selection, sent when they change.

local M = {}

--- From now on changes are sent.
function M.attach() end

--- From now on nothing is.
function M.detach() end

return M
