/**
 * `npm run test:faults`: kills and freezes processes, exhausts disks, shifts clocks, breaks vendors and
 * disconnects callers while requests run. See docs/operations.md, "Fault injection". Exits with status 1
 * when the books do not balance, or when a charge does not match what the caller saw.
 */
import { ensureBuilt } from '../../../scripts/ensure-built.mjs';
import { ensureInstalled } from '../../../scripts/ensure-installed.mjs';

const say = (line) => console.error(line);
try {
  await ensureInstalled({ say });
  await ensureBuilt({ say });
  // Imported only now, because undici and the build may have to be prepared first.
  const { runFaults } = await import('./run-faults.mjs');
  process.exitCode = await runFaults(process.argv.slice(2), say);
} catch (error) {
  say(error.stack);
  process.exitCode = 1;
}
