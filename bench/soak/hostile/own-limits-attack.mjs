import { setTimeout as wait } from 'node:timers/promises';
import { none } from '../table.mjs';
import { StalledReader } from '../stalled-reader.mjs';
import { ask } from './callers.mjs';
import { makeBody } from './prompts.mjs';
import { shareLine } from './share-line.mjs';

const LONG = { pace: 200, text: 2_000 };
/** Longer than the timeout of the fast vendor's route. */
const STALLED_MS = 6_000;

/** Streams ended by our own limits after content are charged; streams interrupted by the vendor are free. */
export const ownLimitsAttack = {
  id: 'own-limits',
  before: {
    'the request time passes after content': '0.00',
    'charged for a whole answer that our limit ended undelivered': '0',
    'charged for a stream that the vendor interrupted': '0',
    'a reader who takes nothing, until the request time passes': '0.63',
    "the neighbour's p99": '161 ms',
    'the process': 'lives',
  },
  run: async (stronghold) =>
    (
      await Promise.all([
        limitedStream(stronghold),
        limitedWhole(stronghold),
        brokenOff(stronghold),
        stalledReader(stronghold),
      ])
    ).flat(),
};

async function limitedStream(stronghold) {
  const plan = { id: 'timed', ...LONG };
  const body = makeBody('chat', { model: 'bench/timed', plan, stream: true });
  const seen = await ask(stronghold, { body });
  const row = await stronghold.logRow('request_id = $1', [seen.requestId]);
  const call = await stronghold.vendorCall('timed');
  return shareLine('the request time passes after content', { seen, row, call });
}

async function limitedWhole(stronghold) {
  const body = makeBody('chat', { model: 'bench/timed-whole', plan: { id: 'whole', ...LONG } });
  const { requestId } = await ask(stronghold, { body });
  const row = await stronghold.logRow('request_id = $1', [requestId]);
  return none('charged for a whole answer that our limit ended undelivered', row?.cost ?? NaN);
}

async function brokenOff(stronghold) {
  const plan = { id: 'cut', ...LONG, cut: 200 };
  const body = makeBody('chat', { model: 'bench/liar', plan, stream: true });
  const { requestId } = await ask(stronghold, { body });
  const row = await stronghold.logRow('request_id = $1', [requestId]);
  return none('charged for a stream that the vendor interrupted', row?.cost ?? NaN);
}

/** Reads only the head, until the request timeout has passed, and then disconnects. */
async function stalledReader(stronghold) {
  const plan = { id: 'stalled', pace: 400_000, text: 2_000_000 };
  const body = makeBody('chat', { model: 'bench/torrent', plan, stream: true });
  const target = { origin: stronghold.url, apiKey: stronghold.keys.attacker };
  const reader = new StalledReader();
  await reader.open(target, Buffer.from(JSON.stringify(body)));
  await wait(STALLED_MS);
  reader.leave();
  const row = await stronghold.logRow('request_id = $1', [reader.requestId]);
  const call = await stronghold.vendorCall('stalled');
  const what = 'a reader who takes nothing, until the request time passes';
  return shareLine(what, { seen: { text: '' }, row, call });
}
