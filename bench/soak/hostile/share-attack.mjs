import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { atMost, seconds, told } from '../table.mjs';
import { makeBody } from './prompts.mjs';

const GUARDRAILS = '/v1/customer/guardrails';
/** Long enough for both to be scanned by the threads that tenants share. */
const NEIGHBOURS_RULE = { type: 'regex', pattern: '(?:internal|secret)-[0-9]{40}' };
const NEIGHBOURS_PROMPT = 'The committee met in the old library. '.repeat(200);
/** Too many states on such texts for any engine to cache. */
const COSTLY_RULES = Array.from({ length: 10 }, (_, index) => ({
  type: 'regex',
  pattern: `[a-m][a-z ]{${400 - index}}[0-9]`,
}));
const COSTLY_PROMPT = scramble(200_000);
const SCANNING_CALLERS = 60;
const SCANS_LAST_MS = 8_000;
/** A running scan can continue until its own limit of 5 s. */
const FREE_AGAIN_SECONDS = 6;
const OWN_LIMIT_MS = 10_000;

/** One tenant has expensive patterns and long prompts; another uses guardrails too. */
export const scansAttack = {
  id: 'scans',
  before: {
    "the neighbour's p99": '781 ms',
    'the process': 'lives',
    'callers and rules gone, the tenant itself waits': 'more than 10 s',
  },
  neighbour: JSON.stringify({
    model: 'bench-quiet/neighbour',
    messages: [{ role: 'user', content: NEIGHBOURS_PROMPT }],
    max_tokens: 100,
  }),
  async prepare(stronghold) {
    const rules = [NEIGHBOURS_RULE];
    await addGuardrail(stronghold, { key: stronghold.keys.neighbour, rules });
  },
  async run(stronghold) {
    await addGuardrail(stronghold, { rules: COSTLY_RULES });
    const body = JSON.stringify(
      makeBody('chat', { model: 'bench/liar', plan: {}, prompt: COSTLY_PROMPT }),
    );
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const flood = Array.from({ length: SCANNING_CALLERS }, () =>
      stronghold.call('/v1/chat/completions', { body, signal: leaving.signal }).catch(() => {}),
    );
    await wait(SCANS_LAST_MS);
    leaving.abort();
    await Promise.all(flood);
    await deleteGuardrails(stronghold, stronghold.keys.attacker);
    const past = await secondsOfOwnRequest(stronghold);
    this.isStuck = past === Infinity;
    return [
      {
        what: 'callers and rules gone, the tenant itself waits',
        figure: this.isStuck ? `more than ${OWN_LIMIT_MS / 1000} s` : seconds(past),
        bound: `≤ ${seconds(FREE_AGAIN_SECONDS)}`,
        isMet: past <= FREE_AGAIN_SECONDS,
      },
    ];
  },
  async cleanUp(stronghold) {
    for (const name of ['attacker', 'neighbour']) {
      await deleteGuardrails(stronghold, stronghold.keys[name]);
    }
    // Abandoned scans must not be attributed to the next attack.
    if (this.isStuck) await stronghold.restart();
  },
};

/**
 * Measures a new rule that is tested and then applied by the threads that earlier rules kept busy.
 * @returns `Infinity` without a response in time
 */
async function secondsOfOwnRequest(stronghold) {
  const body = makeBody('chat', { model: 'bench/liar', plan: {}, prompt: NEIGHBOURS_PROMPT });
  const startedMs = Date.now();
  try {
    const signal = AbortSignal.timeout(OWN_LIMIT_MS);
    await addGuardrail(stronghold, { rules: [NEIGHBOURS_RULE], signal });
    await stronghold.call('/v1/chat/completions', { body, signal });
    return (Date.now() - startedMs) / 1000;
  } catch {
    return Infinity;
  }
}

export async function addGuardrail(stronghold, { key, rules, signal }) {
  const body = { name: 'Hostile', action: 'block', rules };
  const { status, text } = await stronghold.call(GUARDRAILS, { key, body, signal });
  if (status !== 201) throw new Error(`No guardrail: ${text}`);
}

export async function deleteGuardrails(stronghold, key) {
  const { text } = await stronghold.call(GUARDRAILS, { key });
  for (const { id } of JSON.parse(text).data) {
    await stronghold.call(`${GUARDRAILS}/${id}`, { key, method: 'DELETE' });
  }
}

const JOBS = 500;
const MOST_OPEN = 200;
const LOOK_EVERY_MS = 100;
const SUBMITTERS = 8;
const JOB_POLL_MS = 200;
const JOB_FACTOR = 3;
const JOB_FLOOR_SECONDS = 2;
const JOB_LIMIT_MS = 12_000;
const JOB_BODY = { model: 'sandbox/video', prompt: 'A long film', seconds: 4 };

/** One tenant queues hundreds of jobs, another a single one. */
export const jobsAttack = {
  id: 'jobs',
  before: {
    "the neighbour's single job is done after": '10.7 s',
    'of 500 jobs of one tenant, open at a time': '500',
    "the neighbour's p99": '145 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const quiet = await secondsOfJob(stronghold, stronghold.keys.neighbour);
    const { taken, mostOpen } = await submitAll(stronghold);
    const during = await secondsOfJob(stronghold, stronghold.keys.neighbour);
    this.taken = taken;
    const limit = Math.max(JOB_FACTOR * quiet, quiet + JOB_FLOOR_SECONDS);
    return [
      {
        what: "the neighbour's single job is done after",
        figure: during === Infinity ? `not in ${JOB_LIMIT_MS / 1000} s` : seconds(during),
        bound: `≤ ${seconds(limit)} (${seconds(quiet)} when quiet)`,
        isMet: during <= limit,
      },
      atMost(`of ${JOBS} jobs of one tenant, open at a time`, mostOpen, MOST_OPEN),
      told('taken in, as places came free', String(taken.length)),
    ];
  },
  async cleanUp(stronghold) {
    const work = async () => {
      for (let id = this.taken?.pop(); id !== undefined; id = this.taken.pop()) {
        await stronghold.call(`/v1/jobs/${id}`, { method: 'DELETE' });
      }
    };
    await Promise.all(Array.from({ length: SUBMITTERS }, work));
  },
};

async function submitAll(stronghold) {
  const taken = [];
  let left = JOBS;
  const work = async () => {
    while (left-- > 0) {
      const { status, text } = await stronghold.call('/v1/jobs', { body: JOB_BODY });
      if (status === 202) taken.push(JSON.parse(text).id);
    }
  };
  let mostOpen = 0;
  const look = async () => {
    while (left > 0) {
      const [{ open }] = await stronghold.query(
        `SELECT coalesce(max(open), 0) AS open FROM (
           SELECT count(*) AS open FROM jobs WHERE status IN ('queued', 'in_progress')
           GROUP BY tenant_id
         ) AS tenants`,
      );
      mostOpen = Math.max(mostOpen, open);
      await wait(LOOK_EVERY_MS);
    }
  };
  await Promise.all([look(), ...Array.from({ length: SUBMITTERS }, work)]);
  return { taken, mostOpen };
}

/** Returns `Infinity` for a job that does not finish in time. */
async function secondsOfJob(stronghold, key) {
  const startedMs = Date.now();
  const { text } = await stronghold.call('/v1/jobs', { key, body: JOB_BODY });
  const { id } = JSON.parse(text);
  while (Date.now() - startedMs < JOB_LIMIT_MS) {
    const job = await stronghold.call(`/v1/jobs/${id}`, { key });
    if (JSON.parse(job.text).status === 'succeeded') return (Date.now() - startedMs) / 1000;
    await wait(JOB_POLL_MS);
  }
  return Infinity;
}

/** Returns random letters and blanks, the same in each run. */
function scramble(length) {
  const letters = 'abcdefghijklmnopqrstuvwxyz ';
  let seed = 7;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return letters[(seed >> 16) % letters.length];
  };
  return Array.from({ length }, next).join('');
}
