vim9script

# The agents that can be started: those that the program names when it starts, and those of g:pillion_agents.

import autoload './config.vim'

# The agents as the program named them last, by name. It stays when the program ends.
var known: dict<dict<any>> = {}

# Takes over the agents of `pillion/environment`.
export def Set(agents: list<any>)
  known = {}
  for agent in agents
    known[agent.name] = agent
  endfor
enddef

# The program's facts about an agent: empty of one that it does not know.
export def About(name: string): dict<any>
  return get(known, name, {})
enddef

# The command of each, by name.
export def Commands(): dict<list<string>>
  return mapnew(known, (_, agent) => agent.command)->extend(config.Get('agents'))
enddef

export def Names(): list<string>
  return Commands()->keys()->sort()
enddef

# A name for a hint.
export def Example(): string
  return get(Names(), 0, '{agent}')
enddef
