// Formats Lua files with StyLua, or only says which are not formatted:
// node format.mjs FOLDER [--check] FILE…, where FOLDER holds the node_modules of package.json.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...words] = process.argv.slice(2);
const files = words.filter((word) => word !== "--check");
const isCheck = files.length < words.length;

const library = join(resolve(folder), "node_modules/@johnnymorganz/stylua/stylua_lib_node.mjs");
const { Config, IndentType, OutputVerification, formatCode } = await import(pathToFileURL(library));

// The few keys of stylua.toml that are in use; editors read the same file.
const settings = new Map(
  readFileSync("stylua.toml", "utf8")
    .split("\n")
    .map((line) => line.match(/^(\w+) = "?(\w+)"?$/))
    .filter((match) => match)
    .map(([, key, value]) => [key, value]),
);

function config() {
  const config = Config.new();
  config.column_width = Number(settings.get("column_width"));
  config.indent_type = IndentType[settings.get("indent_type")];
  config.indent_width = Number(settings.get("indent_width"));
  return config;
}

for (const file of files) {
  const text = readFileSync(file, "utf8");
  // A configuration is used up by one call.
  const formatted = formatCode(text, config(), undefined, OutputVerification.Full);
  if (formatted === text) continue;
  if (isCheck) {
    console.log(`${file} is not formatted. Hint: cargo xtask format`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, formatted);
  }
}
