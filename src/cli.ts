import 'reflect-metadata';
import { runCommand } from './app/commands/run-command.js';
import { loadConfig } from './platform/config/load-config.js';
import { processEnvironment } from './platform/config/process-environment.js';

/** The operator's commands: `npm run gateway -- --help`. */
process.exitCode = await runCommand(process.argv.slice(2), {
  loadConfig: () => loadConfig(processEnvironment()),
  print: (line) => process.stdout.write(`${line}\n`),
  printError: (line) => process.stderr.write(`${line}\n`),
});
