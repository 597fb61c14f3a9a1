import Sequencer from '@jest/test-sequencer';
import { existsSync } from 'node:fs';

/** The longest suites; started last, they would keep running after all others. */
const LONG = [
  'test/console/console.console-spec.ts',
  'test/e2e/faults.e2e-spec.ts',
  'test/e2e/broadcast-failures.e2e-spec.ts',
  'test/int/work-queue.int-spec.ts',
  'test/e2e/crash.e2e-spec.ts',
  'test/e2e/jobs-chaos.e2e-spec.ts',
  'test/e2e/broadcast.e2e-spec.ts',
  'test/int/database-notices.int-spec.ts',
  'test/e2e/failover-scenarios.e2e-spec.ts',
  'test/int/npm-start.int-spec.ts',
];
const missing = LONG.filter((name) => !existsSync(new URL(`../../${name}`, import.meta.url)));
if (missing.length > 0) throw new Error(`Missing suites: ${missing.join(', ')}`);

const KINDS = [/\.e2e-spec\.ts$/, /\.int-spec\.ts$/];

/** Runs long suites first, then those that start the service, those that need a database, and the rest. */
export default class LongestFirst extends Sequencer {
  /** Keeps Jest's order within each group: by duration of the last run, or by size. */
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted].sort((one, other) => rankOf(one.path) - rankOf(other.path));
  }
}

function rankOf(path) {
  const long = LONG.findIndex((name) => path.endsWith(name));
  if (long !== -1) return long;
  const kind = KINDS.findIndex((pattern) => pattern.test(path));
  return LONG.length + (kind === -1 ? KINDS.length : kind);
}
