import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readOptions, USAGE } from './options.mjs';
import { Soak } from './soak.mjs';
import { toMarkdown } from './table.mjs';

/** Time limit for all scenarios except `mixed`, including starts and rests. */
const OTHERS_LIMIT_MS = 28 * 60_000;

/** Runs the selected scenarios and prints the table. @returns the exit status */
export async function runSoak(words, say) {
  if (!existsSync('/proc/self/fd')) {
    say('The soak reads memory and connections from /proc, so it needs Linux.');
    return 1;
  }
  let options;
  try {
    options = readOptions(words);
  } catch (error) {
    say(`${error.message}\n\n${USAGE}`);
    return 1;
  }

  const folder = mkdtempSync(join(tmpdir(), 'gateway-soak-'));
  // As root, the service runs PostgreSQL as another user, who needs access to the folder.
  chmodSync(folder, 0o711);
  const soak = new Soak({ folder, settings: options.settings, say });
  let stopping;
  const stopAll = () =>
    (stopping ??= soak.stopServers().finally(() => {
      rmSync(folder, { recursive: true, force: true });
    }));
  const leave = (reason) => {
    say(reason);
    stopAll().finally(() => process.exit(1));
  };
  const limitMs = OTHERS_LIMIT_MS + options.settings.mixedSeconds * 1000;
  const watchdog = setTimeout(() => leave(`Gave up after ${limitMs / 60_000} minutes`), limitMs);
  process.once('SIGINT', () => leave('Interrupted'));
  process.once('SIGTERM', () => leave('Terminated'));
  try {
    return await runScenarios(options, soak, say);
  } finally {
    clearTimeout(watchdog);
    await stopAll();
  }
}

async function runScenarios({ scenarios, jsonFile }, soak, say) {
  const startedMs = Date.now();
  const loadBefore = loadavg()[0];
  const results = [];
  for (const { id, run } of scenarios) {
    const scenarioStartedMs = Date.now();
    say(`${id} …`);
    soak.begin(id);
    try {
      results.push({ id, ...(await run(soak)) });
    } catch (error) {
      // The other scenarios can still run.
      soak.addFaults(`aborted: ${error.stack}`);
    }
    await soak.stopServers();
    say(`${id}: ${((Date.now() - scenarioStartedMs) / 1000).toFixed(0)} s`);
  }

  const minutes = (Date.now() - startedMs) / 60_000;
  const conditions =
    `Node ${process.versions.node}, ${availableParallelism()} cores (${cpus()[0].model.trim()}), ` +
    `${minutes.toFixed(1)} minutes. Load average before: ${loadBefore.toFixed(1)}.`;
  console.log(`${conditions}\n\n${toMarkdown(results)}\n`);
  for (const { id, notes = [] } of results) {
    for (const note of notes) console.log(`${id}: ${note}`);
  }
  console.log(
    soak.faults.length === 0
      ? '\nEvery answer had the right text, model and usage; every invoice was exact.'
      : `\nWRONG:\n${soak.faults.map((fault) => `- ${fault}`).join('\n')}`,
  );
  if (jsonFile !== undefined) {
    const figures = { conditions, results, faults: soak.faults };
    writeFileSync(jsonFile, JSON.stringify(figures, undefined, 2));
  }
  const isMet = results.every(({ lines }) => lines.every((line) => line.isMet !== false));
  return isMet && soak.faults.length === 0 ? 0 : 1;
}
