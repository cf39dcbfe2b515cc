vim9script

# Hunks: where two texts differ. One is {old, old_count, new, new_count}: lines counted from 0.

# Beyond so many steps the middle of two texts counts as one hunk.
const MAX_STEPS = 1000

# The hunks between two lists of lines.
export def Between(old: list<string>, new: list<string>): list<dict<number>>
  const most = min([len(old), len(new)])
  var head = 0
  while head < most && old[head] ==# new[head]
    head += 1
  endwhile
  var tail = 0
  while tail < most - head && old[-1 - tail] ==# new[-1 - tail]
    tail += 1
  endwhile
  const [rows, columns] = [len(old) - head - tail, len(new) - head - tail]
  if rows == 0 && columns == 0
    return []
  elseif rows == 0 || columns == 0
    return [{old: head, old_count: rows, new: head, new_count: columns}]
  endif
  return Joined(Pairs(old, new, head, rows, columns), head, rows, columns)
enddef

# The lines that are the same in both, as [row, column] from `head` on: the shortest way through the grid of lines
# (Myers), given up after `MAX_STEPS`.
def Pairs(old: list<string>, new: list<string>, head: number, rows: number, columns: number): list<list<number>>
  var furthest: dict<number> = {1: 0}
  var trace: list<dict<number>> = []
  for step in range(min([rows + columns, MAX_STEPS]) + 1)
    add(trace, copy(furthest))
    for diagonal in range(-step, step, 2)
      const goes_down = diagonal == -step
        || diagonal != step && get(furthest, diagonal - 1, -1) < get(furthest, diagonal + 1, -1)
      var x = goes_down ? furthest[diagonal + 1] : furthest[diagonal - 1] + 1
      var y = x - diagonal
      while x < rows && y < columns && old[head + x] ==# new[head + y]
        x += 1
        y += 1
      endwhile
      furthest[diagonal] = x
      if x >= rows && y >= columns
        return Way(trace, step, rows, columns)
      endif
    endfor
  endfor
  return []
enddef

def Way(trace: list<dict<number>>, steps: number, rows: number, columns: number): list<list<number>>
  var pairs: list<list<number>> = []
  var [x, y] = [rows, columns]
  for step in range(steps, 1, -1)
    const before = trace[step]
    const diagonal = x - y
    const goes_down = diagonal == -step
      || diagonal != step && get(before, diagonal - 1, -1) < get(before, diagonal + 1, -1)
    const from = goes_down ? diagonal + 1 : diagonal - 1
    const [start_x, start_y] = [before[from], before[from] - from]
    while x > start_x && y > start_y
      x -= 1
      y -= 1
      add(pairs, [x, y])
    endwhile
    [x, y] = [start_x, start_y]
  endfor
  while x > 0 && y > 0
    x -= 1
    y -= 1
    add(pairs, [x, y])
  endwhile
  return reverse(pairs)
enddef

# What lies between the lines that are the same.
def Joined(pairs: list<list<number>>, head: number, rows: number, columns: number): list<dict<number>>
  var hunks: list<dict<number>> = []
  var [x, y] = [0, 0]
  for [row, column] in pairs + [[rows, columns]]
    if row > x || column > y
      add(hunks, {old: head + x, old_count: row - x, new: head + y, new_count: column - y})
    endif
    [x, y] = [row + 1, column + 1]
  endfor
  return hunks
enddef

# The hunk at a line of the new text, counted from 1; one without lines there is at the lines around it.
export def At(hunks: list<dict<number>>, line: number): dict<number>
  for hunk in hunks
    if hunk.new_count == 0
      if line == hunk.new || line == hunk.new + 1
        return hunk
      endif
    elseif line > hunk.new && line <= hunk.new + hunk.new_count
      return hunk
    endif
  endfor
  return {}
enddef
