/**
 * `npm run console:check`: the console in a browser, as `npm test` has it, but on as many log rows as are asked
 * for, every page as every role with its data within a second, and on `npm start` of a fresh clone.
 *
 *   npm run console:check -- [--rows 5000000] [--data <folder>] [--no-clone] [--only <words of tests>]
 *   npm run console:check -- --pictures [--data <folder>]     takes the pictures of docs/console, and no more
 *
 * The folder is seeded unless it was before, which takes minutes; without one it is a temporary one. It wants a
 * quiet machine, and for the clone the package registry.
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
