import 'reflect-metadata';
import { setPriority } from 'node:os';
import { runCommand } from './app/commands/run-command.js';
import { loadSettings } from './app/load-settings.js';

/** As `nice` has it; a service on the same machine has 0. */
const LOW_PRIORITY = 10;

/** The operator's commands: `npm run gateway -- --help`. Ends with the command. */
export const done = runCommand(process.argv.slice(2), {
  loadConfig: () => loadSettings(),
  print: (line) => process.stdout.write(`${line}\n`),
  printError: (line) => process.stderr.write(`${line}\n`),
  yieldToOthers: () => setPriority(LOW_PRIORITY),
}).then((code) => {
  process.exitCode = code;
});
