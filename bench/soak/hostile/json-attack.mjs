import { setMaxListeners } from 'node:events';
import { none, told } from '../table.mjs';

const MEMBERS = 990_000;
const BODIES = 139;
const BODY_BYTES = 2_000_000;
const DEPTH = 500_000;
const VECTORS = 2_048;
const TOKENS_EACH = 900;
/** Requests without a response by then are reported as `open`. */
const LIMIT_MS = 20_000;

/** Slows the vendor down, so that parsed bodies stay in memory. */
const HEAD =
  '{"model":"bench/slow","user":"pace=1&text=60","messages":[{"role":"user","content":"Hi"}],"more":';

/** Bodies that are small to send and expensive to parse. */
export const jsonAttack = {
  id: 'json',
  before: {
    'a body of 990,000 members: refused': '0 of 1 (open)',
    'a body nested 500,000 deep: refused': '1 of 1 (400)',
    '139 parallel bodies of 2 MB full of {}: refused': '0 of 139 (open)',
    "the neighbour's p99": '16172 ms, 375 of 408 lost',
    'the process': 'no response within 10 s',
  },
  async run(stronghold) {
    const signal = AbortSignal.timeout(LIMIT_MS);
    setMaxListeners(0, signal);
    const send = (body) => outcomeOf(stronghold, '/v1/chat/completions', body, signal);
    const deep = await send(`${HEAD}${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`);
    const objects = `${HEAD}[${'{},'.repeat(BODY_BYTES / 3)}{}]}`;
    const [members, ...bombs] = await Promise.all([
      send(`${HEAD}{${numbered(MEMBERS)}}}`),
      ...Array.from({ length: BODIES }, () => send(objects)),
    ]);
    return [
      refusal('a body of 990,000 members', [members]),
      refusal('a body nested 500,000 deep', [deep]),
      refusal(`${BODIES} parallel bodies of 2 MB full of {}`, bombs),
    ];
  },
};

/** Legitimate requests that must still be served. */
export const vectorsAttack = {
  id: 'vectors',
  // Its one body is large, and parsing it takes time.
  isQuiet: true,
  before: {
    'embeddings of 2048 × 900 tokens not served': '0',
    'which took': '586 ms, status 200',
    'the process': 'lives',
  },
  async run(stronghold) {
    const vector = JSON.stringify(Array.from({ length: TOKENS_EACH }, (_, index) => index));
    const input = Array.from({ length: VECTORS }, () => vector).join(',');
    const startedMs = Date.now();
    const body = `{"model":"bench/embed","input":[${input}]}`;
    const outcome = await outcomeOf(stronghold, '/v1/embeddings', body);
    return [
      none(`embeddings of ${VECTORS} × ${TOKENS_EACH} tokens not served`, outcome === 200 ? 0 : 1),
      told('which took', `${Date.now() - startedMs} ms, status ${outcome}`),
    ];
  },
};

function numbered(count) {
  return Array.from({ length: count }, (_, index) => `"m${index}":1`).join(',');
}

/** Returns the status, `lost` for a lost connection, or `open` without a response in time. */
async function outcomeOf(stronghold, path, body, signal) {
  try {
    return (await stronghold.call(path, { body, signal })).status;
  } catch {
    return signal?.aborted ? 'open' : 'lost';
  }
}

function refusal(what, outcomes) {
  const refused = outcomes.filter((status) => status === 400 || status === 413 || status === 503);
  const seen = [...new Set(outcomes)].join(', ');
  return {
    what: `${what}: refused`,
    figure: `${refused.length} of ${outcomes.length} (${seen})`,
    bound: `all ${outcomes.length}`,
    isMet: refused.length === outcomes.length,
  };
}
