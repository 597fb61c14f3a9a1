import Sequencer from '@jest/test-sequencer';
import { existsSync } from 'node:fs';

/** What takes half a minute by itself: begun last, it would go on when all others have ended. */
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
if (missing.length > 0) throw new Error(`There is no ${missing.join(', ')}`);

const KINDS = [/\.e2e-spec\.ts$/, /\.int-spec\.ts$/];

/** Long suites, then those that start the service, then those that want a database, then the rest. */
export default class LongestFirst extends Sequencer {
  /** Jest's own order among equals: by the time that they took here, or by their size. */
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
