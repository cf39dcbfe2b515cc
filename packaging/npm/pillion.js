#!/usr/bin/env node
"use strict";
// Starts the program, which is in an optional dependency for this platform, and ends as it ends.

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `pillion-${process.platform}-${process.arch}`;

function program() {
  const file = process.platform === "win32" ? "pillion.exe" : "pillion";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    process.stderr.write(
      `error: npm has not installed the package ${name}\n` +
        "hint: either there is none for this platform, or optional dependencies were left out: " +
        "install it again with `--include=optional`.\n",
    );
    process.exit(1);
  }
}

const child = spawn(program(), process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => {
  process.stderr.write(`error: ${name} did not start: ${error.message}\n`);
  process.exit(1);
});
// A terminal's Ctrl-C reaches the program by itself; what is sent to this process alone is passed on.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => signal === "SIGINT" || child.kill(signal));
}
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + constants.signals[signal] : code);
});
