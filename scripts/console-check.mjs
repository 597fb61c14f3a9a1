/**
 * `npm run console:check`: tests the console in a browser like `npm test`, but on any number of log
 * rows, with every page as every role, a limit of one second for data, and `npm start` in a fresh clone.
 *
 *   npm run console:check -- [--rows 5000000] [--data <folder>] [--no-clone] [--only <words of tests>]
 *   npm run console:check -- --pictures [--data <folder>]     only takes the pictures of docs/console
 *
 * Seeds the folder if it is empty, which takes minutes; without one it uses a temporary folder. Needs an
 * idle machine, and the package registry for the clone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureConsole } from './console.mjs';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';
import { runScript } from './run-program.mjs';

const PICTURED = 'fits into 390 px|rejects a wrong one';

const { values } = parseArgs({
  options: {
    rows: { type: 'string' },
    data: { type: 'string' },
    pictures: { type: 'boolean', default: false },
    'no-clone': { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const { pictures } = values;
const only = values.only ?? (pictures ? PICTURED : undefined);
process.chdir(PROJECT_ROOT);
const folder = values.data ?? mkdtempSync(join(tmpdir(), 'gateway-console-'));
try {
  await ensureInstalled({ say: console.log });
  await ensureConsole({ say: console.log });
  const { succeeded } = await runScript(
    'jest',
    [
      ...['--maxWorkers=1', '--testPathPatterns', 'console-spec'],
      ...(only ? ['--testNamePattern', only] : []),
    ],
    {
      env: {
        CONSOLE_DATA: folder,
        CONSOLE_ROWS: values.rows ?? (pictures ? '20000' : '5000000'),
        ...(pictures ? { CONSOLE_PICTURES: 'true' } : { CONSOLE_LONG: 'true' }),
        ...(!pictures && !values['no-clone'] && { CONSOLE_CLONE: 'true' }),
      },
      show: true,
    },
  );
  process.exitCode = succeeded ? 0 : 1;
} finally {
  if (values.data === undefined) rmSync(folder, { recursive: true, force: true });
}
