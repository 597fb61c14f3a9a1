/**
 * `npm run clients`: other people's clients against the gateway, before fakes of every vendor.
 * Arguments choose clients by a part of their names: `npm run clients -- codex python`. It installs
 * from npm, PyPI and the registries of Go, Rust and Java, into a folder for temporary files.
 */
import { tmpdir } from 'node:os';
import { ensureInstalled } from './ensure-installed.mjs';
import { PROJECT_ROOT } from './project-root.mjs';
import { runScript } from './run-program.mjs';

/** Of one client: installing it, and all of its calls. */
const LIMIT_MS = 1_800_000;

process.chdir(PROJECT_ROOT);
await ensureInstalled({ say: (line) => console.log(line) });
const { succeeded } = await runScript(
  'jest',
  ['--testRegex', '\\.client-spec\\.ts$', '--testTimeout', String(LIMIT_MS)],
  {
    env: {
      CLIENTS: process.argv.slice(2).join(','),
      // Not the suites' folder in memory: what was installed stays for the next run, and clients that have
      // a `/dev` of their own would not find their programs.
      TMPDIR: process.env.TMPDIR ?? tmpdir(),
    },
    show: true,
  },
);
process.exitCode = succeeded ? 0 : 1;
