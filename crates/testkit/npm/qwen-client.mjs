// The companion client of Qwen Code: it comes as one bundle in pieces, and the piece with the client
// exports it. None for the folder of another package.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export async function loadQwen(folder) {
  const chunks = path.join(folder, 'chunks');
  if (!fs.existsSync(chunks)) return undefined;
  const names = fs.readdirSync(chunks).filter((name) => name.endsWith('.js'));
  const files = names.map((name) => path.join(chunks, name));
  const file = files.find((file) => fs.readFileSync(file, 'utf8').includes('var IdeClient = class'));
  return import(pathToFileURL(file).href);
}
