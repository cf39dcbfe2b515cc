vim9script
export def Answer(params: dict<any>): dict<any>
  return {files: []}
enddef
