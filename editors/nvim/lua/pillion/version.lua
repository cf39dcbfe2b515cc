--- The version of the plugin, the same as that of the program it belongs to.

return "0.1.0"
