import 'reflect-metadata';
import { setPriority } from 'node:os';
import { runCommand } from './app/commands/run-command.js';
import { loadSettings } from './app/load-settings.js';

/** A `nice` value. A service on the same machine has 0. */
const LOW_PRIORITY = 10;

/** Runs an operator command, see `npm run gateway -- --help`. Resolves when it has ended. */
export const done = runCommand(process.argv.slice(2), {
  loadConfig: () => loadSettings(),
  print: (line) => process.stdout.write(`${line}\n`),
  printError: (line) => process.stderr.write(`${line}\n`),
  yieldToOthers: () => setPriority(LOW_PRIORITY),
}).then((code) => {
  process.exitCode = code;
});
