/**
 * `npm run bench`: measures what a request costs in the gateway, next to a bare proxy that alternates
 * with it on the same machine. See docs/performance.md. Exits with status 1 for a wrong response or
 * invoice; missed budgets are only shown in the table.
 */
import { ensureBuilt } from '../scripts/ensure-built.mjs';
import { ensureInstalled } from '../scripts/ensure-installed.mjs';

const say = (line) => console.error(line);
try {
  await ensureInstalled({ say });
  await ensureBuilt({ say });
  // Imported only now, because undici may have to be installed first.
  const { runBench } = await import('./run-bench.mjs');
  process.exitCode = await runBench(process.argv.slice(2), say);
} catch (error) {
  say(error.stack);
  process.exitCode = 1;
}
