import http from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import { readTreeCpu } from '../process-tree.mjs';
import { median, percentile } from '../statistics.mjs';
import { modelRow } from './gateway-process.mjs';
import { collectGarbage } from './inspector.mjs';
import { inUseLine } from './memory.mjs';
import { atMost, none, told } from './table.mjs';
import { CHAT, DESTINATIONS, OPT_IN, makeCaller, makeTracedBody } from './traced-calls.mjs';

const DESTINATION_COUNT = 5;
const ROUNDS = 10;
const REQUESTS_PER_TURN = 1_000;
const CONCURRENCY = 4;
const WARM_UP_TURNS = 1;
/** Allowed p99 latency while every destination hangs, as a multiple. */
const P99_WITHIN = 1.1;
const HEAP_WITHIN_BYTES = 50e6;

/**
 * Makes every destination of the tenant hang. Requests with and without broadcast alternate, so that
 * other load on the machine affects both alike.
 */
export async function runBroadcast(soak) {
  const vendor = await soak.startVendor();
  const collector = await startHangingCollector();
  soak.addServer(collector);
  const gateway = await soak.startGateway({
    providers: { bench: vendor.url },
    models: [modelRow('traced')],
    environment: { GATEWAY_ALLOW_PRIVATE_DESTINATIONS: 'true' },
  });
  const agent = new Agent({ connections: CONCURRENCY });
  const call = makeCaller(gateway, agent);
  for (let count = 0; count < DESTINATION_COUNT; count++) {
    await call(DESTINATIONS, { url: collector.url });
  }
  for (let turn = 0; turn < WARM_UP_TURNS; turn++) {
    await takeTurn(call, false);
    await takeTurn(call, true);
  }
  await wait(soak.settings.settleSeconds * 1000);
  const before = await collectGarbage(gateway);

  const off = { turns: [], cpu: 0 };
  const on = { turns: [], cpu: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    // The order alternates between rounds.
    const turns = [
      [off, false],
      [on, true],
    ];
    if (round % 2 === 1) turns.reverse();
    for (const [figures, isBroadcast] of turns) {
      const cpuBefore = readTreeCpu(gateway.pid);
      figures.turns.push(await takeTurn(call, isBroadcast));
      const cpu = readTreeCpu(gateway.pid);
      figures.cpu += cpu.node + cpu.postgres - cpuBefore.node - cpuBefore.postgres;
    }
  }
  const after = await collectGarbage(gateway);
  await agent.close();
  return {
    lines: [
      told('without broadcast', describe(off)),
      told('while every destination hangs', describe(on)),
      atMost(
        'p99 with broadcast, of that without',
        percentile(on.turns.flat(), 0.99) / percentile(off.turns.flat(), 0.99),
        P99_WITHIN,
        (value) => `${(100 * value).toFixed(0)} %`,
      ),
      inUseLine('before', before),
      inUseLine('after', after),
      atMost(
        'heap that is in use after it, above that before',
        after.heapBytes - before.heapBytes,
        HEAP_WITHIN_BYTES,
        (bytes) => `${(bytes / 1e6).toFixed(1)} MB`,
      ),
      told('deliveries that the collector has seen', String(collector.count())),
      none("errors in the gateway's log", gateway.findLoggedErrors().length),
    ],
  };
}

/** Other load affects some rounds only, so their median is used. */
function describe({ turns, cpu }) {
  const times = turns.flat();
  const parts = [0.5, 0.9, 0.99].map((part) => [
    percentile(times, part).toFixed(1),
    median(ofTurns({ turns }, part)).toFixed(1),
  ]);
  const all = parts.map(([ofAll]) => ofAll).join(', ');
  const medians = parts.map(([, ofTurn]) => ofTurn).join(', ');
  const cpuEach = (cpu / times.length / 1000).toFixed(2);
  return (
    `${times.length} requests: p50, p90, p99 ${all} ms; ` +
    `medians of ${turns.length} turns ${medians} ms; CPU ${cpuEach} ms each`
  );
}

function ofTurns({ turns }, part) {
  return turns.map((times) => percentile(times, part));
}

/** @returns the duration of each request in milliseconds */
async function takeTurn(call, isBroadcast) {
  const headers = isBroadcast ? OPT_IN : {};
  const times = [];
  let left = REQUESTS_PER_TURN;
  const worker = async () => {
    while (left-- > 0) {
      const startedMs = performance.now();
      await call(CHAT, makeTracedBody(), headers);
      times.push(performance.now() - startedMs);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return times;
}

async function startHangingCollector() {
  let count = 0;
  const server = http.createServer((received) => {
    count++;
    received.resume();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1/traces`,
    count: () => count,
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
