import 'reflect-metadata';
import { runCommand } from './app/commands/run-command.js';
import { loadSettings } from './app/load-settings.js';

/** The operator's commands: `npm run gateway -- --help`. */
process.exitCode = await runCommand(process.argv.slice(2), {
  loadConfig: () => loadSettings(),
  print: (line) => process.stdout.write(`${line}\n`),
  printError: (line) => process.stderr.write(`${line}\n`),
});
