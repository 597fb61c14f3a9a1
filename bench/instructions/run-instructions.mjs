import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Driver } from '../driver.mjs';
import { startGatewayTarget } from '../gateway-target.mjs';
import { readTreePids } from '../process-tree.mjs';
import { toMarkdown } from '../table.mjs';
import { smallChat, streamedChat, streamedResponse } from '../workloads.mjs';

const PRELOAD = fileURLToPath(new URL('./postgres-under-callgrind.mjs', import.meta.url));
const EVENT = 'instructions:u';
const START_LIMIT_MS = 300_000;
const WARM_UP_REQUESTS = 50;
/** V8 compiles code it has run often enough. */
const V8_WARM_UP_REQUESTS = 8_000;
const SETTLE_MS = 1_000;
const MOST_ATTEMPTS = 20;

/** One request at a time, so that each has separate ledger groups. */
export const INSTRUCTION_ROWS = [
  instructionRow('chat-1kb', smallChat, 'chat, 1 KB'),
  instructionRow('stream-100', (name) => streamedChat(name, 100), 'stream of 100 chunks'),
  instructionRow(
    'responses-100',
    (name) => streamedResponse(name, 100),
    'responses, stream of 100 chunks, stored',
  ),
];

/**
 * Counts user-space instructions of one request: of everything with hardware counters where `perf` has
 * them, otherwise of PostgreSQL under callgrind.
 *
 * @param place `targets` and `upstreamUrl` of running servers, and what is needed to start more
 * @returns the table, or undefined after printing what is missing
 */
export async function countInstructions({ rows, settings }, place) {
  if (hasCounters()) return toTable(await countByPerf(rows, settings, place));
  place.say('perf has no hardware counters here (a virtual machine, or no perf).');
  if (!canRun('valgrind', '--version')) {
    place.say(
      'There is no valgrind either, so instructions cannot be counted: install one of them.',
    );
    return undefined;
  }
  place.say(
    'Counting PostgreSQL under callgrind, without Node, which takes minutes to start under it.',
  );
  return toTable(await countByCallgrind(rows, settings, place));
}

function instructionRow(id, makeWorkload, title) {
  const workload = makeWorkload(`counted-${id}`);
  return { id, title, workload, models: [workload.alias] };
}

async function countByPerf(rows, { countedRequests }, { targets }) {
  const counted = [];
  for (const { title, workload } of rows) {
    const line = { title };
    for (const target of targets) {
      const driver = new Driver(target, workload, { connections: 1 });
      await target.beginRow();
      await ask(driver, V8_WARM_UP_REQUESTS);
      const pids = readTreePids(target.server.pid);
      const stops = {};
      for (const kind of ['node', 'postgres']) {
        if (pids[kind].length > 0) stops[kind] = countOf(pids[kind]);
      }
      await wait(SETTLE_MS);
      await ask(driver, countedRequests);
      await wait(SETTLE_MS);
      line[target.name] = {};
      for (const [kind, stop] of Object.entries(stops)) {
        line[target.name][kind] = (await stop()) / countedRequests;
      }
      await driver.close();
    }
    counted.push({ ...line, yardstick: line.yardstick.node, ...line.gateway });
  }
  return counted;
}

/** Counts for processes and their descendants until the returned function is called. */
function countOf(pids) {
  const perf = spawn('perf', ['stat', '-x', ',', '-e', EVENT, '-p', pids.join(',')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  perf.stderr.setEncoding('utf8').on('data', (part) => (text += part));
  return async () => {
    perf.kill('SIGINT');
    await once(perf, 'close');
    return Number(text.trim().split('\n').at(-1).split(',', 1)[0]);
  };
}

/**
 * Starts a gateway per row, and one that serves only the warm-up that all have in common. The difference
 * is the cost of the row's requests.
 */
async function countByCallgrind(rows, { countedRequests }, place) {
  const idle = await liveUnderCallgrind(rows, undefined, 0, place);
  const counted = [];
  for (const row of rows) {
    const all = await liveUnderCallgrind(rows, row, countedRequests, place);
    place.say(`${row.id}: ${((all - idle) / countedRequests / 1_000).toFixed(0)} thousand`);
    counted.push({ title: row.title, postgres: (all - idle) / countedRequests });
  }
  return counted;
}

/** @returns the instructions of all PostgreSQL processes over their lifetime */
async function liveUnderCallgrind(rows, row, requests, { folder, servers, upstreamUrl }) {
  const home = mkdtempSync(join(folder, 'counted-'));
  const counts = join(home, 'callgrind');
  mkdirSync(counts);
  // As root the service runs PostgreSQL as another user.
  chmodSync(counts, 0o777);
  const target = await startGatewayTarget({
    servers,
    folder: home,
    upstreamUrl,
    models: rows.flatMap(({ models }) => models),
    nodeOptions: ['--import', PRELOAD],
    environment: { BENCH_CALLGRIND_FOLDER: counts },
    startLimitMs: START_LIMIT_MS,
  });
  for (const { workload } of rows) {
    await warmUp(target, workload);
  }
  if (row) {
    const driver = new Driver(target, row.workload, { connections: 1 });
    await ask(driver, requests);
    await driver.close();
  }
  await wait(SETTLE_MS);
  await target.server.stop();
  const found = readdirSync(counts).map((name) => readSummary(join(counts, name)));
  // A forked process starts with its parent's count.
  const inherited = Math.min(...found);
  return found.reduce((sum, one) => sum + one - inherited, 0);
}

/** Valgrind translates code on its first run, which can take longer than the service waits. */
async function warmUp(target, workload) {
  for (let attempt = 1; ; attempt++) {
    const driver = new Driver(target, workload, { connections: 1 });
    await driver.send();
    const hasAnswered = driver.failures === 0;
    if (hasAnswered || attempt === MOST_ATTEMPTS) await ask(driver, WARM_UP_REQUESTS);
    await driver.close();
    if (hasAnswered) return;
    await wait(SETTLE_MS);
  }
}

async function ask(driver, requests) {
  await driver.closedLoop({ concurrency: 1, durationMs: Infinity, maxRequests: requests });
  if (driver.failures > 0) throw new Error(`Wrong responses: ${driver.faults.join('; ')}`);
}

function readSummary(file) {
  const count = /^summary: (\d+)/m.exec(readFileSync(file, 'latin1'))?.[1];
  if (count === undefined) throw new Error('A PostgreSQL process exited without its count.');
  return Number(count);
}

function hasCounters() {
  try {
    const words = ['stat', '-x', ',', '-e', EVENT, 'true'];
    const text = execFileSync('sh', ['-c', 'perf "$@" 2>&1', 'sh', ...words], { encoding: 'utf8' });
    return /^\d+,/m.test(text);
  } catch {
    return false;
  }
}

function canRun(program, ...words) {
  try {
    execFileSync(program, words, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function toTable(counted) {
  return toMarkdown(counted, [
    ['one caller at a time', ({ title }) => title],
    ['yardstick', ({ yardstick }) => thousands(yardstick)],
    ['gateway: Node', ({ node }) => thousands(node)],
    ['PostgreSQL', ({ postgres }) => thousands(postgres)],
    ['Node to yardstick', ({ node, yardstick }) => node && `${(node / yardstick).toFixed(2)} ×`],
  ]);
}

function thousands(count) {
  return count === undefined ? '' : `${Math.round(count / 1_000).toLocaleString('en')} thousand`;
}
