/**
 * `npm run soak`: what only time and trouble bring to light: memory that does not come back, readers
 * who stall, vendors that fail, a stop in the middle of work. See docs/performance.md, "Endurance".
 * Ends with status 1 when a bound was missed, or an answer or an invoice was wrong.
 */
import { ensureBuilt } from '../../scripts/ensure-built.mjs';
import { ensureInstalled } from '../../scripts/ensure-installed.mjs';

const say = (line) => console.error(line);
try {
  await ensureInstalled({ say });
  await ensureBuilt({ say });
  // Only now is it sure that undici and the build are there.
  const { runSoak } = await import('./run-soak.mjs');
  process.exitCode = await runSoak(process.argv.slice(2), say);
} catch (error) {
  say(error.stack);
  process.exitCode = 1;
}
