import { setTimeout as wait } from 'node:timers/promises';
import { atMost, seconds } from '../table.mjs';
import { ask } from './callers.mjs';
import { makeBody } from './prompts.mjs';

const GUARDRAILS = '/v1/customer/guardrails';
/** Large enough for both to be looked at by the threads that all tenants share. */
const NEIGHBOURS_RULE = { type: 'regex', pattern: '(?:internal|secret)-[0-9]{40}' };
const NEIGHBOURS_PROMPT = 'The committee met in the old library. '.repeat(200);
const COSTLY_RULES = Array.from({ length: 10 }, (_, index) => ({
  type: 'regex',
  pattern: `(?:[a-y ]{0,90}|[b-z ]{0,90}){1,5}#${index}`,
}));
const COSTLY_PROMPT = 'abcdefghij klmnopqrst uvwxyz '.repeat(10_000);
const SCANNING_CALLERS = 60;
const SCANS_LAST_MS = 8_000;
/** A scan that has begun may go on to its own limit of 5 s. */
const FREE_AGAIN_SECONDS = 6;

/** One tenant has costly patterns and long prompts, another guards its requests too. */
export const scansAttack = {
  id: 'scans',
  before: {},
  neighbour: JSON.stringify({
    model: 'bench/neighbour',
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
    const flood = Array.from({ length: SCANNING_CALLERS }, () =>
      stronghold.call('/v1/chat/completions', { body, signal: leaving.signal }).catch(() => {}),
    );
    await wait(SCANS_LAST_MS);
    leaving.abort();
    await Promise.all(flood);
    await deleteGuardrails(stronghold, stronghold.keys.attacker);
    // A rule that takes the way of the threads, as those did that have gone.
    await addGuardrail(stronghold, { rules: [NEIGHBOURS_RULE] });
    const startedMs = Date.now();
    await ask(stronghold, {
      body: makeBody('chat', { model: 'bench/liar', plan: {}, prompt: NEIGHBOURS_PROMPT }),
    });
    const past = (Date.now() - startedMs) / 1000;
    return [
      atMost('callers and rules gone, the tenant itself waits', past, FREE_AGAIN_SECONDS, seconds),
    ];
  },
  async cleanUp(stronghold) {
    for (const name of ['attacker', 'neighbour']) {
      await deleteGuardrails(stronghold, stronghold.keys[name]);
    }
  },
};

async function addGuardrail(stronghold, { key, rules }) {
  const body = { name: 'Hostile', action: 'block', rules };
  const { status, text } = await stronghold.call(GUARDRAILS, { key, body });
  if (status !== 201) throw new Error(`No guardrail: ${text}`);
}

async function deleteGuardrails(stronghold, key) {
  const { text } = await stronghold.call(GUARDRAILS, { key });
  for (const { id } of JSON.parse(text).data) {
    await stronghold.call(`${GUARDRAILS}/${id}`, { key, method: 'DELETE' });
  }
}

const JOBS = 500;
const MOST_OPEN = 200;
const SUBMITTERS = 25;
const JOB_FACTOR = 3;
const JOB_FLOOR_SECONDS = 2;
const JOB_LIMIT_MS = 12_000;
const JOB_BODY = { model: 'sandbox/video', prompt: 'A long film', seconds: 4 };

/** One tenant queues hundreds of jobs, another has a single one. */
export const jobsAttack = {
  id: 'jobs',
  before: {},
  async run(stronghold) {
    const quiet = await secondsOfJob(stronghold, stronghold.keys.neighbour);
    const taken = await submitAll(stronghold);
    const during = await secondsOfJob(stronghold, stronghold.keys.neighbour);
    for (const id of taken) stronghold.call(`/v1/jobs/${id}`, { method: 'DELETE' }).catch(() => {});
    await stronghold.call('/v1/customer/jobs');
    const limit = Math.max(JOB_FACTOR * quiet, quiet + JOB_FLOOR_SECONDS);
    return [
      {
        ...atMost("the neighbour's single job is done after", during, limit, seconds),
        bound: `≤ ${seconds(limit)} (${seconds(quiet)} when quiet)`,
      },
      atMost(`of ${JOBS} jobs of one tenant, taken in`, taken.length, MOST_OPEN + 50),
    ];
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
  await Promise.all(Array.from({ length: SUBMITTERS }, work));
  return taken;
}

/** `Infinity` for a job that is not done in time. */
async function secondsOfJob(stronghold, key) {
  const startedMs = Date.now();
  const { text } = await stronghold.call('/v1/jobs', { key, body: JOB_BODY });
  const { id } = JSON.parse(text);
  while (Date.now() - startedMs < JOB_LIMIT_MS) {
    const job = await stronghold.call(`/v1/jobs/${id}`, { key });
    if (JSON.parse(job.text).status === 'succeeded') return (Date.now() - startedMs) / 1000;
    await wait(100);
  }
  return Infinity;
}
