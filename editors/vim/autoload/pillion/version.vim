vim9script

# The version of the plugin.

export const NUMBER = '0.1.0'
