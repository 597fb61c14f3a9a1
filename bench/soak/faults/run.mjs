/**
 * `npm run test:faults`: processes that are killed, frozen, out of room or out of time, vendors that fail and
 * callers who leave, while requests run. See docs/operations.md, "Fault injection". Ends with status 1 when the books
 * do not balance, or when what a caller saw does not fit what was charged.
 */
import { ensureBuilt } from '../../../scripts/ensure-built.mjs';
import { ensureInstalled } from '../../../scripts/ensure-installed.mjs';

const say = (line) => console.error(line);
try {
  await ensureInstalled({ say });
  await ensureBuilt({ say });
  // Only now is it sure that undici and the build are there.
  const { runFaults } = await import('./run-faults.mjs');
  process.exitCode = await runFaults(process.argv.slice(2), say);
} catch (error) {
  say(error.stack);
  process.exitCode = 1;
}
