/** `npm run gateway -- …`: the operator's commands, after the same preparation as `npm start`. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILT_COMMANDS, ensureBuilt } from './ensure-built.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';

process.chdir(PROJECT_ROOT);
try {
  // Standard output belongs to the command: somebody may be piping it on.
  const say = (line) => console.error(line);
  await ensureInstalled({ say });
  await ensureBuilt({ say });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const commands = join(PROJECT_ROOT, BUILT_COMMANDS);
process.argv[1] = commands;
await import(pathToFileURL(commands).href);
