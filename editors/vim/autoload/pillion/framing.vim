vim9script

# Messages between bytes and values: a Content-Length header, an empty line, JSON.
#
# Vim's own LSP channel is not used, because its strings end at a NUL, which texts of agents may hold. Here a
# stand-in takes the place of each NUL: a character that is not in the message.

# Where stand-ins are looked for: characters for private use.
const FIRST_STAND_IN = 0xF0000

# A character that is in none of the texts.
export def StandIn(texts: list<string>): string
  var code = FIRST_STAND_IN
  while true
    const char = nr2char(code, true)
    if indexof(texts, (_, text) => stridx(text, char) >= 0) < 0
      return char
    endif
    code += 1
  endwhile
  return ''
enddef

# What a socket takes as a whole or not at all, in bytes. Vim never sends what is left of a longer piece.
const PIECE = 0x8000

# Writes a message. Waits for a program that does not read.
export def Write(wire: channel, text: string)
  for at in range(0, len(text) - 1, PIECE)
    ch_sendraw(wire, strpart(text, at, PIECE))
  endfor
enddef

# A message as it is sent. `nul` stands in for NUL if it is not empty.
export def Encode(message: dict<any>, nul: string): string
  var json = json_encode(message)
  if nul != ''
    json = split(json, nul, true)->join('\u0000')
  endif
  return $"Content-Length: {strlen(json)}\r\n\r\n{json}"
enddef

# JSON as a value, and what stands in for NUL in it: [value, stand-in].
def Decode(json: string): list<any>
  if stridx(json, '\u0000') < 0
    return [json_decode(json), '']
  endif
  const nul = StandIn([json])
  # From left to right, so that an escaped backslash before u0000 stays one.
  const marked = substitute(json, '\\\\\|\\u0000', (found) => found[0] == '\\' ? '\\' : nul, 'g')
  return [json_decode(marked), nul]
enddef

# A reader: what came and is not a whole message yet. `is_summed`: each has to come as a whole, which its sum tells.
export def Reader(is_summed: bool): dict<any>
  return {pieces: [], length: 0, wanted: -1, sum: '', is_summed: is_summed}
enddef

# Takes what came. The messages that are whole now, each with its stand-in. Throws if it is no such message.
export def Read(reader: dict<any>, piece: string): list<list<any>>
  add(reader.pieces, piece)
  reader.length += strlen(piece)
  var messages: list<list<any>> = []
  while true
    if reader.wanted < 0
      const text = join(reader.pieces, '')
      const end = stridx(text, "\r\n\r\n")
      if end < 0
        reader.pieces = [text]
        break
      endif
      const header = strpart(text, 0, end)
      const wanted = matchstr(header, '\cContent-Length:\s*\zs\d\+')
      if wanted == ''
        throw 'Pillion: a message without Content-Length'
      endif
      reader.wanted = str2nr(wanted)
      reader.sum = matchstr(header, '\cContent-Sum:\s*\zs\x\+')
      reader.pieces = [strpart(text, end + 4)]
      reader.length = strlen(reader.pieces[0])
    endif
    if reader.length < reader.wanted
      break
    endif
    const text = join(reader.pieces, '')
    const json = strpart(text, 0, reader.wanted)
    if reader.is_summed && sha256(json) !=# reader.sum
      throw 'Pillion: another program has read a part of what was said to Vim'
    endif
    add(messages, Decode(json))
    reader.pieces = [strpart(text, reader.wanted)]
    reader.length -= reader.wanted
    reader.wanted = -1
    if reader.length == 0
      reader.pieces = []
      break
    endif
  endwhile
  return messages
enddef
