import { runCommand } from '../../src/app/commands/run-command.js';
import { loadSettings } from '../../src/app/load-settings.js';

/** Runs an operator command from the sources, like `npm run gateway -- …`. */
export async function runOperatorCommand(environment: Record<string, string>, ...words: string[]) {
  let output = '';
  let errors = '';
  const code = await runCommand(words, {
    loadConfig: () => loadSettings({ GATEWAY_SECRET: 'x'.repeat(32), ...environment }),
    print: (line) => (output += `${line}\n`),
    printError: (line) => (errors += `${line}\n`),
  });
  return { code, output, errors };
}
