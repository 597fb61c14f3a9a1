/**
 * Plans a run from its seed alone: the requests, their callers and their faults, and which faults hit the
 * processes, when and for how long.
 */
import { Random } from '../../seeded-random.mjs';

/** How a vendor spoils a response: see faulty-vendor.mjs. */
export const VENDOR_TROUBLES = [
  '500',
  '429',
  'reset',
  'cut-early',
  'cut-late',
  'silent',
  'garbage',
  'garbage-late',
  'usage-late',
];
/** Kinds of requests, as frequent as listed here. */
const KINDS = [
  ...Array(8).fill('chat'),
  ...Array(6).fill('stream'),
  ...Array(2).fill('paced-stream'),
  ...Array(2).fill('message'),
  ...Array(2).fill('response'),
  'background',
];
const DISCONNECTS = ['leaves-stream', 'leaves-early', 'leaves-paced'];

/**
 * Groups of faults: one fault at a time within a group, while groups overlap. `share` is the group's part
 * of all faults; the last one gets the rest. Per kind: the longest duration in seconds, repeated
 * according to its frequency.
 */
const LANES = [
  {
    lane: 'processes',
    share: 0.4,
    kinds: [
      ['kill-gateway', 1.5],
      ['stop-gateway', 6],
      ['clock', 0.2],
      ['kill-worker', 1.5],
      ['kill-gateway', 1.5],
      ['stop-worker', 6],
      ['clock', 0.2],
      // Long enough for the others to consider it dead.
      ['stop-gateway', 26],
    ],
  },
  {
    lane: 'stores',
    share: 0.4,
    kinds: [
      ['kill-postgres', 1],
      ['kill-redis', 2],
      ['stop-postgres', 6],
      ['kill-backend', 0.2],
      ['read-only', 4],
      ['stop-redis', 5],
      ['full-disk', 4],
      ['full-log-disk', 3],
    ],
  },
  {
    lane: 'vendor',
    share: 1,
    kinds: [
      ['vendor-failing', 3],
      ['vendor-refusing', 3],
      ['vendor-breaking', 3],
    ],
  },
];

/** In runs this long, each fault can last its full time; later ones then shift slightly. */
const LONG_RUN_SECONDS = 300;

/** Share of faults that hit processes; the rest hit single requests. */
const PROCESS_SHARE = 0.15;
const LEAVER_SHARE = 0.35;

export function makePlan({ seed, requests, faults, seconds, tenants, gateways, workers = 1 }) {
  const random = new Random(seed);
  const canHit = ([kind]) => workers > 0 || !kind.endsWith('-worker');
  const processFaults = Math.max(Math.round(faults * PROCESS_SHARE), Math.min(faults, 10));
  const ofRequests = Math.min(requests, faults - processFaults);
  const leavers = Math.round(ofRequests * LEAVER_SHARE);
  const calls = [];
  for (let index = 0; index < requests; index++) {
    let kind = random.pick(KINDS);
    let trouble;
    if (index < leavers) kind = random.pick(DISCONNECTS);
    else if (index < ofRequests) {
      kind = random.pick(['chat', 'stream']);
      trouble = random.pick(VENDOR_TROUBLES);
    }
    calls.push({
      kind,
      trouble,
      hasFallback: trouble !== undefined && random.next() < 0.5,
      tenant: random.below(tenants),
      leavesAfter: random.next(),
      instance: random.next(),
    });
  }
  random.shuffle(calls);
  let left = processFaults;
  const lanes = LANES.map(({ lane, share, kinds }) => {
    const count = Math.min(left, Math.ceil(processFaults * share));
    left -= count;
    const possible = kinds.filter(canHit);
    return { lane, faults: makeFaults(random, possible, { count, seconds, gateways }) };
  });
  return { calls, lanes };
}

/** Starts at a different place of the list for each seed. */
function makeFaults(random, kinds, { count, seconds, gateways }) {
  const slot = seconds / count;
  const room = seconds >= LONG_RUN_SECONDS ? Infinity : Math.max(slot * 0.6, 0.3);
  const first = count >= kinds.length ? 0 : random.below(kinds.length);
  return Array.from({ length: count }, (_, index) => {
    const [kind, longest] = kinds[(first + index) % kinds.length];
    return {
      kind,
      atSeconds: slot * (index + random.next() * 0.3),
      seconds: random.between(0.1, 1) * Math.min(longest, room),
      target: random.below(gateways),
      jumpSeconds: random.pick([-3_600, -60, -2, 2, 60, 3_600]),
      variant: random.below(2),
    };
  });
}
