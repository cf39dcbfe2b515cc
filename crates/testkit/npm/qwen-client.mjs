// The companion client of Qwen Code. The newest one comes as one bundle in pieces, and the piece with the
// client exports it. An older one is one file that starts the program and exports nothing: a copy of it, without
// that start, exports the client. None for the folder of another package.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const START = '\nmain().catch(';
const EXPORTS = '\ninit_ide_client();\nexport { Client, IdeClient };\n';

export async function loadQwen(folder) {
  const file = piece(path.join(folder, 'chunks')) ?? library(folder);
  return file && import(pathToFileURL(file).href);
}

function piece(chunks) {
  if (!fs.existsSync(chunks)) return undefined;
  const names = fs.readdirSync(chunks).filter((name) => name.endsWith('.js'));
  const files = names.map((name) => path.join(chunks, name));
  return files.find((file) => fs.readFileSync(file, 'utf8').includes('var IdeClient = class'));
}

function library(folder) {
  const program = path.join(folder, 'cli.js');
  const library = path.join(folder, 'library.mjs');
  if (!fs.existsSync(program) || fs.existsSync(library)) return fs.existsSync(library) ? library : undefined;
  const text = fs.readFileSync(program, 'utf8');
  // Several tests may make it at once.
  const copy = `${library}.${process.pid}`;
  fs.writeFileSync(copy, text.slice(0, text.lastIndexOf(START)) + EXPORTS);
  fs.renameSync(copy, library);
  return library;
}
