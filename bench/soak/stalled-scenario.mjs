import { setTimeout as wait } from 'node:timers/promises';
import { PRICING } from '../answers.mjs';
import { Driver } from '../driver.mjs';
import { megabytes } from '../lines.mjs';
import { percentile } from '../statistics.mjs';
import { smallChat } from '../workloads.mjs';
import { readConnections } from './connections.mjs';
import { modelRow } from './gateway-process.mjs';
import { collectGarbage } from './inspector.mjs';
import { inUseLine, readMemory, watchMemory } from './memory.mjs';
import { StalledReader } from './stalled-reader.mjs';
import { atMost, milliseconds, none, seconds, told } from './table.mjs';

/** The vendor sends 5 MB as fast as possible. */
const STALLED = 'flooding/stalled~flood';
const READERS = 200;
const RAMP_MS = 5_000;
/** By then, the vendor has filled all buffers and nothing moves. */
const STANDSTILL_MS = 10_000;
/** The gateway's write timeout is 60 s and starts once the buffers are full. */
const CUT_LIMIT_SECONDS = 90;
const POLL_MS = 1_000;
/**
 * Between the standstill and the first cut: memory in use then is the cost of stalled readers. The drift
 * is measured until here, because this reading collects garbage.
 */
const LOOK_AFTER_MS = 30_000;
/** Vendors' idle connections are kept for 10 s. */
const IDLE_CONNECTIONS_MS = 15_000;

const CHATS_PER_SECOND = 5;
const CHATS_MS = 75_000;
const MAX_CHAT_MS = 250;
/**
 * Per stream: 256 KB buffered from the vendor plus a chunk of up to 64 KB beyond it, the same towards the
 * caller, and the memory of a request and two connections.
 */
const MAX_BYTES_PER_STREAM = 1_000_000;
const MAX_DRIFT_BYTES_PER_STREAM = 100_000;

/** Callers that stop reading: their memory is bounded, and they are disconnected after a minute. */
export async function runStalled(soak) {
  const vendor = await soak.startVendor();
  // Separate processes, so that chats do not wait for the flooding vendor.
  const [serving, flooding] = [
    await soak.startTroubledVendor(vendor),
    await soak.startTroubledVendor(vendor),
  ];
  const gateway = await soak.startGateway({
    providers: { bench: serving.url, flooding: flooding.url },
    models: [
      modelRow('chat-while-filling'),
      modelRow('chat-while-stalled'),
      { id: STALLED, pricing: PRICING },
    ],
  });
  await soak.warmUp(gateway);
  const before = readMemory(gateway);
  const watch = watchMemory(gateway, POLL_MS);

  const [filling, stalled] = ['chat-while-filling', 'chat-while-stalled'].map(
    (model) => new Driver(gateway.target, smallChat(model), { connections: 50 }),
  );
  const fillingChats = filling.openLoop({
    perSecond: CHATS_PER_SECOND,
    durationMs: RAMP_MS + STANDSTILL_MS,
  });
  const readers = await openReaders(gateway);
  const stalledAtMs = Date.now();
  await wait(STANDSTILL_MS);
  const fillingLatencies = (await fillingChats).latenciesMs;
  const standstillAtMs = Date.now();
  const stalledConnections = readConnections(gateway).vendorSockets;
  const stalledChats = stalled.openLoop({ perSecond: CHATS_PER_SECOND, durationMs: CHATS_MS });
  const looking = wait(LOOK_AFTER_MS).then(() => collectGarbage(gateway));
  const cut = await watchCuts(gateway, readers, stalledAtMs);
  const atCut = readConnections(gateway).vendorSockets;
  const inUse = await looking;
  const stalledLatencies = (await stalledChats).latenciesMs;
  const samples = watch.stop();
  for (const reader of readers) reader.leave();
  const failures = await soak.finish([filling, stalled]);
  await wait(IDLE_CONNECTIONS_MS);
  const { counts } = readConnections(gateway);
  const stillOpen = [...atCut].filter((socket) => stalledConnections.has(socket));

  const stillUntilMs = Math.min(
    standstillAtMs + LOOK_AFTER_MS,
    stalledAtMs + cut.firstSeconds * 1000 - POLL_MS,
  );
  const still = samples
    .filter(({ atMs }) => atMs >= standstillAtMs && atMs < stillUntilMs)
    .map(({ bytes }) => bytes);
  const peak = Math.max(...samples.map(({ bytes }) => bytes));
  return {
    lines: [
      atMost(
        `memory growth with ${READERS} stalled readers, 1 MB each`,
        peak - before,
        READERS * MAX_BYTES_PER_STREAM,
        megabytes,
      ),
      atMost(
        'drift of memory while they stall, from the first to the highest',
        Math.max(...still) - still[0],
        READERS * MAX_DRIFT_BYTES_PER_STREAM,
        megabytes,
      ),
      inUseLine('while they stall', inUse),
      none('readers that were not cut', cut.uncut),
      told('the first was cut after', seconds(cut.firstSeconds)),
      atMost('the last was cut after', cut.lastSeconds, CUT_LIMIT_SECONDS, seconds),
      atMost(
        `of ${stalledConnections.size} connections to the vendor, open after the last cut`,
        stillOpen.length,
        CHATS_PER_SECOND,
      ),
      told('connections to the vendor that were opened meanwhile', atCut.size - stillOpen.length),
      none(`connections to the vendor ${IDLE_CONNECTIONS_MS / 1000} s later`, counts.vendors),
      none(`of ${CHATS_PER_SECOND} chats a second meanwhile, failed`, failures),
      told('their p99 while the buffers fill', milliseconds(percentile(fillingLatencies, 0.99))),
      atMost(
        'their p99 while the readers stall and are cut',
        percentile(stalledLatencies, 0.99),
        MAX_CHAT_MS,
        milliseconds,
      ),
      ...(await soak.checkBooks(gateway)),
    ],
    series: { before, peak, still },
  };
}

async function openReaders(gateway) {
  const messages = [{ role: 'user', content: 'Tell me everything.' }];
  const body = Buffer.from(JSON.stringify({ model: STALLED, stream: true, messages }));
  const opening = Array.from({ length: READERS }, async (_, index) => {
    await wait((index * RAMP_MS) / READERS);
    const reader = new StalledReader();
    await reader.open(gateway.target, body);
    gateway.books.expect(reader.requestId, {
      model: STALLED,
      outcome: 'cancelled',
      source: 'estimated',
    });
    return reader;
  });
  return Promise.all(opening);
}

/**
 * Waits until the gateway has closed its ends of the readers' connections. The readers cannot tell,
 * since they would have to read first.
 */
async function watchCuts(gateway, readers, stalledAtMs) {
  let firstSeconds;
  for (;;) {
    await wait(POLL_MS);
    const { callerPorts } = readConnections(gateway);
    const uncut = readers.filter(({ port }) => callerPorts.has(port)).length;
    const pastSeconds = (Date.now() - stalledAtMs) / 1000;
    if (uncut < readers.length) firstSeconds ??= pastSeconds;
    if (uncut === 0 || pastSeconds > CUT_LIMIT_SECONDS + 10) {
      return { uncut, firstSeconds: firstSeconds ?? pastSeconds, lastSeconds: pastSeconds };
    }
  }
}
