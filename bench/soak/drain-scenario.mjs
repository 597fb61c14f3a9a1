import { setTimeout as wait } from 'node:timers/promises';
import { Driver } from '../driver.mjs';
import { streamedChat } from '../workloads.mjs';
import { isOpen } from './balancer.mjs';
import { readConnections } from './connections.mjs';
import { modelRow } from './gateway-process.mjs';
import { atMost, none, seconds } from './table.mjs';

const STREAMS = 200;
const MODEL = 'paced-drained';
const CHUNKS_PER_SECOND = 20;
const RAMP_MS = 1_000;
const BEGIN_LIMIT_MS = 30_000;
const KNOCK_EVERY_MS = 250;
/** `GATEWAY_DRAIN_SECONDS`. */
const DRAIN_SECONDS = 30;

/** Stops the gateway under load: every stream must complete and be settled. */
export async function runDrain(soak) {
  const vendor = await soak.startVendor();
  const gateway = await soak.startGateway({
    providers: { bench: vendor.url },
    models: [modelRow(MODEL)],
  });
  await soak.warmUp(gateway);
  const { drainedStreamSeconds } = soak.settings;
  const workload = streamedChat(MODEL, drainedStreamSeconds * CHUNKS_PER_SECOND);
  const driver = new Driver(gateway.target, workload, { connections: STREAMS });
  const answers = driver.parallelStreams({ streams: STREAMS, rampMs: RAMP_MS });
  const running = await waitForStreams(gateway);

  process.kill(gateway.pid, 'SIGTERM');
  const stoppedAtMs = Date.now();
  const knocks = knockUntil(gateway);
  const ending = await gateway.exited;
  const pastSeconds = (Date.now() - stoppedAtMs) / 1000;
  const { refusedAfterMs, takenAfterwards } = await knocks;
  await answers;
  const failures = await soak.finish([driver]);
  return {
    lines: [
      {
        what: 'streams under way at the signal',
        figure: String(running),
        bound: String(STREAMS),
        isMet: running === STREAMS,
      },
      none('of them cut or wrong', failures),
      atMost('the process ended after', pastSeconds, DRAIN_SECONDS, seconds),
      {
        what: 'exit',
        figure: ending.signal ?? `code ${ending.code}`,
        bound: 'code 0 or the signal',
        isMet: ending.code === 0 || ending.signal === 'SIGTERM',
      },
      atMost('new connections are refused after', refusedAfterMs / 1000, 1, seconds),
      none('connections taken after that', takenAfterwards),
      ...(await soak.checkBooks(gateway)),
    ],
  };
}

/** Waits until every stream has reached its vendor. @returns how many have */
async function waitForStreams(gateway) {
  const limitMs = Date.now() + BEGIN_LIMIT_MS;
  for (;;) {
    const { vendors } = readConnections(gateway).counts;
    if (vendors >= STREAMS || Date.now() > limitMs) return vendors;
    await wait(50);
  }
}

/** Keeps trying to connect until the process has exited. */
async function knockUntil(gateway) {
  const startedMs = Date.now();
  let hasEnded = false;
  gateway.exited.then(() => (hasEnded = true));
  let refusedAfterMs;
  let takenAfterwards = 0;
  while (!hasEnded) {
    const isTaken = await isOpen(gateway.port);
    if (!isTaken) refusedAfterMs ??= Date.now() - startedMs;
    else if (refusedAfterMs !== undefined) takenAfterwards++;
    await wait(KNOCK_EVERY_MS);
  }
  return { refusedAfterMs: refusedAfterMs ?? Infinity, takenAfterwards };
}
