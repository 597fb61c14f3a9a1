import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Bench } from './bench.mjs';
import { measureStarts, startGatewayTarget } from './gateway-target.mjs';
import {
  changesToMarkdown,
  compareRecords,
  readRecord,
  toRecord,
  writeRecord,
} from './history.mjs';
import { countInstructions } from './instructions/run-instructions.mjs';
import { readOptions, USAGE } from './options.mjs';
import { runPeers, writePeers } from './peers/run-peers.mjs';
import { readMachineCpu, readTreeCpu } from './process-tree.mjs';
import { startServer } from './server-process.mjs';
import { toMarkdown } from './table.mjs';
import { startYardstickTarget } from './yardstick-target.mjs';

const MOCK_UPSTREAM = fileURLToPath(new URL('./mock-upstream.mjs', import.meta.url));

/** Runs the selected rows and prints the table. @returns the exit status */
export async function runBench(words, say) {
  if (!existsSync('/proc/self/stat')) {
    say('The bench reads CPU times from /proc, so it needs Linux.');
    return 1;
  }
  let options;
  try {
    options = readOptions(words);
    // Fails before minutes are spent on a run that cannot be compared.
    if (options.isCompared) options.before = readRecord(options.against, options.mode);
  } catch (error) {
    say(`${error.message}\n\n${USAGE}`);
    return 1;
  }

  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const servers = [];
  let stopping;
  const stopAll = () => (stopping ??= stopServers(servers, folder));
  const leave = (reason) => {
    say(reason);
    stopAll().finally(() => process.exit(1));
  };
  const { limitMs } = options.settings;
  const watchdog = setTimeout(() => leave(`Gave up after ${limitMs / 1000} s`), limitMs);
  process.once('SIGINT', () => leave('Interrupted'));
  process.once('SIGTERM', () => leave('Terminated'));
  try {
    const started = await startTargets(options, folder, servers);
    if (options.countsInstructions) {
      const place = { ...started, servers, folder, say };
      const table = await countInstructions(options, place);
      if (table !== undefined) console.log(`Instructions of one request:\n\n${table}`);
      return table === undefined ? 1 : 0;
    }
    if (options.withPeers) return await showPeers(options, { started, servers, folder, say });
    return await runRows(options, started, servers, say);
  } finally {
    clearTimeout(watchdog);
    await stopAll();
  }
}

/** Starts the upstream and both targets, and returns how to start more. */
async function startTargets({ rows, profileFolder }, folder, servers) {
  const logFile = join(folder, 'upstream.log');
  const upstream = await startServer([MOCK_UPSTREAM], { servers, logFile });
  const models = rows.flatMap((row) => row.models);
  const nodeOptions = profileFolder === undefined ? [] : ['--inspect=127.0.0.1:0'];
  const options = { servers, models, nodeOptions, upstreamUrl: upstream.url };
  const startIn = async (place) => [
    await startYardstickTarget({ ...options, folder: place }),
    await startGatewayTarget({ ...options, folder: place }),
  ];
  return {
    upstreamUrl: upstream.url,
    targets: await startIn(folder),
    async startFresh() {
      const targets = await startIn(makeFolder(folder));
      return {
        targets,
        stop: () => Promise.all(targets.map(({ server }) => stopServer(server))),
      };
    },
    measureStarts: () => measureStarts({ ...options, folder: makeFolder(folder) }),
  };
}

function makeFolder(parent) {
  return mkdtempSync(join(parent, 'fresh-'));
}

/** Its CPU time still counts as this run's. */
async function stopServer(server) {
  server.usedCpu = readTreeCpu(server.pid);
  await server.stop();
}

/** Stops in reverse order, since the upstream must outlive its callers. */
async function stopServers(servers, folder) {
  for (const server of servers.reverse()) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function showPeers(options, { started, servers, folder, say }) {
  const watch = watchMachine(servers);
  const found = await runPeers(options, { started, servers, folder, say });
  console.log(`${watch.inWords(options.mode)}\n\n${found.table}\n`);
  for (const note of found.notes) console.log(`- ${note}`);
  if (options.jsonFile !== undefined) writePeers(options.jsonFile, found);
  return 0;
}

async function runRows(options, started, servers, say) {
  const { mode, settings, rows, jsonFile, profileFolder, before } = options;
  const bench = new Bench({ ...started, settings, profileFolder });
  const watch = watchMachine(servers);
  const results = [];
  for (const row of rows) {
    const rowStartedMs = Date.now();
    bench.rowId = row.id;
    results.push({ id: row.id, ...(await row.run(bench)) });
    say(`${row.id}: ${((Date.now() - rowStartedMs) / 1000).toFixed(1)} s`);
  }
  const otherCores = watch.otherCores();
  const conditions = watch.inWords(mode);
  console.log(`${conditions}\n\n${toMarkdown(results.flatMap(({ lines }) => lines))}\n`);
  console.log(
    bench.faults.length === 0
      ? 'Every answer had the right text, model and usage; every invoice was exact.'
      : `WRONG:\n${bench.faults.map((fault) => `- ${fault}`).join('\n')}`,
  );
  if (jsonFile !== undefined) {
    writeFileSync(
      jsonFile,
      JSON.stringify({ conditions, otherCores, results, faults: bench.faults }, undefined, 2),
    );
  }
  const record = toRecord({
    mode,
    results,
    otherCores,
    conditions: { node: process.versions.node, cores: availableParallelism() },
  });
  let isWorse = false;
  if (before !== undefined) {
    const changes = compareRecords(before, record);
    isWorse = changes.some(({ verdict }) => verdict === 'worse');
    console.log(`\nSince ${before.date} (${before.commit}):\n\n${changesToMarkdown(changes)}`);
  }
  if (options.isRecorded) say(`Stored as bench/history/${writeRecord(record)}`);
  return bench.faults.length === 0 && !isWorse ? 0 : 1;
}

/** Observes conditions that affect a run's figures. */
function watchMachine(servers) {
  const startedMs = Date.now();
  const loadBefore = loadavg()[0];
  const readOthers = () => readMachineCpu() - ownCpu(servers);
  const othersBefore = readOthers();
  const seconds = () => (Date.now() - startedMs) / 1000;
  const otherCores = () => (readOthers() - othersBefore) / (seconds() * 1e6);
  return {
    otherCores,
    inWords: (mode) =>
      `Node ${process.versions.node}, ${availableParallelism()} cores (${cpus()[0].model.trim()}), ` +
      `${mode} run of ${Math.round(seconds())} s. Load average before: ${loadBefore.toFixed(1)}; ` +
      `other programs used ${otherCores().toFixed(2)} cores meanwhile.`,
  };
}

/** Returns the CPU time that this process and its servers have used, in microseconds. */
function ownCpu(servers) {
  const { user, system } = process.cpuUsage();
  let used = user + system;
  for (const { pid, usedCpu } of servers) {
    const { node, postgres } = usedCpu ?? readTreeCpu(pid);
    used += node + postgres;
  }
  return used;
}
