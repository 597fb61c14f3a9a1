/**
 * `npm run clients`: runs third-party clients against the gateway, with fakes of every vendor.
 * Arguments select clients by a part of their names: `npm run clients -- codex python`. Installs from
 * npm, PyPI and the registries of Go, Rust and Java into a folder for temporary files.
 */
import { tmpdir } from 'node:os';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';
import { runScript } from './run-program.mjs';

/** Time limit per client, for its installation and all calls. */
const LIMIT_MS = 1_800_000;

process.chdir(PROJECT_ROOT);
await ensureInstalled({ say: (line) => console.log(line) });
const { succeeded } = await runScript(
  'jest',
  ['--testRegex', '\\.client-spec\\.ts$', '--testTimeout', String(LIMIT_MS)],
  {
    env: {
      CLIENTS: process.argv.slice(2).join(','),
      // Not the suites' folder in memory: installations are reused by the next run, and clients with
      // a separate `/dev` would not find their programs.
      TMPDIR: process.env.TMPDIR ?? tmpdir(),
    },
    show: true,
  },
);
process.exitCode = succeeded ? 0 : 1;
