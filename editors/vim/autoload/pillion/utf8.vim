vim9script

# UTF-8 that JSON can carry. A buffer may hold bytes that are none.

def IsRoundTrip(text: string): bool
  const codes = str2list(text, true)
  return list2str(codes, true) ==# text
    && indexof(codes, (_, code) => code > 0x10FFFF || code >= 0xD800 && code <= 0xDFFF) < 0
enddef

# True if each character is one: neither a stray byte, nor half of a pair, nor beyond Unicode. Through an encoding
# that has every character and nothing else, iconv() is a hundred times as quick as all other ways on long texts.
export def IsValid(text: string): bool
  return has('iconv') && iconv(iconv(text, 'utf-8', 'gb18030'), 'gb18030', 'utf-8') ==# text || IsRoundTrip(text)
enddef

# The text with U+FFFD in place of what is not valid.
export def Valid(text: string): string
  if IsValid(text)
    return text
  endif
  return split(text, '\zs')->map((_, char) => IsValid(char) ? char : "\uFFFD")->join('')
enddef
