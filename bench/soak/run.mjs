/**
 * `npm run soak`: finds problems that only time and faults reveal: leaked memory, stalled readers, failing
 * vendors, a stop under load. See docs/performance.md, "Endurance". Exits with status 1 for an exceeded
 * bound, or a wrong response or invoice.
 */
import { ensureBuilt } from '../../scripts/ensure-built.mjs';
import { ensureInstalled } from '../../scripts/ensure-installed.mjs';

const say = (line) => console.error(line);
try {
  await ensureInstalled({ say });
  await ensureBuilt({ say });
  // Imported only now, because undici and the build may have to be prepared first.
  const { runSoak } = await import('./run-soak.mjs');
  process.exitCode = await runSoak(process.argv.slice(2), say);
} catch (error) {
  say(error.stack);
  process.exitCode = 1;
}
