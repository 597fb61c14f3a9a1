/**
 * `npm run bench`: what a request costs in the gateway, next to a bare proxy that runs in turns with
 * it on the same machine. See docs/performance.md. Ends with status 1 when an answer or an invoice
 * was wrong; a missed budget alone is told in the table.
 */
import { ensureBuilt } from '../scripts/ensure-built.mjs';
import { ensureInstalled } from '../scripts/ensure-installed.mjs';

const say = (line) => console.error(line);
try {
  await ensureInstalled({ say });
  await ensureBuilt({ say });
  // Only now is it sure that undici is there.
  const { runBench } = await import('./run-bench.mjs');
  process.exitCode = await runBench(process.argv.slice(2), say);
} catch (error) {
  say(error.stack);
  process.exitCode = 1;
}
