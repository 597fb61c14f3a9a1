import { setTimeout as wait } from 'node:timers/promises';
import http from 'node:http';
import { Agent, request } from 'undici';
import { megabytes } from '../../lines.mjs';
import { readMemory } from '../memory.mjs';
import { atMost, none } from '../table.mjs';
import { makeBody, PATHS } from './prompts.mjs';

const STREAMS = 3_000;
const LIMIT = 1_000;
const BATCH = 30;
const BATCH_EVERY_MS = 120;
const LAST_ANSWERS_MS = 8_000;
const BODIES = 40;
const BODY_BYTES = 19_000_000;
const SENT_AT_ONCE = 15_000_000;
const TRICKLE_BYTES = 2_000;
const TRICKLE_EVERY_MS = 100;
const TRICKLE_MS = 5_000;
/** The configured budget and some overhead. */
const MAX_GROWTH_BYTES = 400e6;

/** One key opens more streams than allowed. */
export const floodAttack = {
  id: 'in-flight',
  before: {
    'streams of one key under way': '2940',
    'streams not answered at all': '30',
    'the others refused with 429 and Retry-After': '0',
    "the neighbour's p99": '6220 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const body = JSON.stringify(
      makeBody('chat', { model: 'bench/slow', plan: { pace: 0.5, text: 50 }, stream: true }),
    );
    const agent = new Agent({ connections: STREAMS });
    const seen = [];
    for (let index = 0; index < STREAMS; index++) {
      open(stronghold, agent, body).then((answer) => seen.push(answer));
      if (index % BATCH === BATCH - 1) await wait(BATCH_EVERY_MS);
    }
    const limitMs = Date.now() + LAST_ANSWERS_MS;
    while (seen.length < STREAMS && Date.now() < limitMs) await wait(100);
    const opened = seen.filter(({ status }) => status === 200);
    const refused = seen.filter(({ status, retryAfter }) => status === 429 && retryAfter > 0);
    const unanswered = STREAMS - seen.length;
    const lost = seen.filter(({ status }) => status === 'lost').map(({ why }) => why);
    await agent.destroy();
    return [
      atMost('streams of one key under way', opened.length, LIMIT),
      none('streams not answered at all', unanswered),
      {
        what: 'streams lost on the way',
        figure: `${lost.length} ${countEach(lost)}`.trim(),
        bound: '0',
        isMet: lost.length === 0,
      },
      {
        what: 'the others refused with 429 and Retry-After',
        figure: String(refused.length),
        bound: `≥ ${STREAMS - LIMIT}`,
        isMet: refused.length >= STREAMS - LIMIT,
      },
    ];
  },
};

function countEach(words) {
  const kinds = [...new Set(words)];
  return kinds.map((kind) => `${kind}: ${words.filter((word) => word === kind).length}`).join(', ');
}

async function open({ url, keys }, dispatcher, body) {
  try {
    const response = await request(url + PATHS.chat, {
      method: 'POST',
      dispatcher,
      headers: { authorization: `Bearer ${keys.attacker}`, 'content-type': 'application/json' },
      body,
    });
    response.body.on('error', () => undefined).resume();
    const retryAfter = Number(response.headers['retry-after']);
    return { status: response.statusCode, retryAfter };
  } catch (error) {
    return { status: 'lost', why: error.code ?? error.message };
  }
}

/** Large bodies that never end. */
export const bodiesAttack = {
  id: 'bodies',
  before: {
    'of 40 bodies of 19 MB that trickle: refused with 503 and Retry-After': '0',
    'memory that they take': '389 MB',
    "the neighbour's p99": '2281 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const atRest = readMemory(stronghold);
    const uploads = Array.from({ length: BODIES }, () => new Trickle(stronghold));
    const limitMs = Date.now() + TRICKLE_MS;
    let peak = atRest;
    while (Date.now() < limitMs) {
      for (const upload of uploads) upload.push();
      await wait(TRICKLE_EVERY_MS);
      peak = Math.max(peak, readMemory(stronghold));
    }
    const refused = uploads.filter(({ status, retryAfter }) => status === 503 && retryAfter > 0);
    for (const upload of uploads) upload.close();
    return [
      {
        what: `of ${BODIES} bodies of 19 MB that trickle: refused with 503 and Retry-After`,
        figure: String(refused.length),
        bound: 'some',
        isMet: refused.length > 0,
      },
      atMost('memory that they take', peak - atRest, MAX_GROWTH_BYTES, megabytes),
    ];
  },
};

/** Sends most of a body at once and the rest slowly. */
class Trickle {
  status;
  retryAfter;
  #request;

  constructor({ url, keys }) {
    this.#request = http.request(url + PATHS.chat, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${keys.attacker}`,
        'content-type': 'application/json',
        'content-length': BODY_BYTES,
      },
    });
    this.#request.on('error', () => undefined);
    this.#request.on('response', (response) => {
      this.status = response.statusCode;
      this.retryAfter = Number(response.headers['retry-after']);
      response.resume();
    });
    this.#request.write(' '.repeat(SENT_AT_ONCE));
  }

  push() {
    if (!this.#request.destroyed) this.#request.write(' '.repeat(TRICKLE_BYTES));
  }

  close() {
    this.#request.destroy();
  }
}
