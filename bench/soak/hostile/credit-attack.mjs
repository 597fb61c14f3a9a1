import { setTimeout as wait } from 'node:timers/promises';
import { atMost, none, told } from '../table.mjs';
import { ask } from './callers.mjs';
import { MAX_TOKENS, priceOf } from './models.mjs';
import { makeBody } from './prompts.mjs';
import { SMALL_CREDITS } from './target-gateway.mjs';

const CALLERS = 200;
/** Delay between requests, so that they run in parallel but do not arrive at once. */
const APART_MS = 3;

/** Parallel requests without limits: together they must never cost more than is available. */
export const creditAttack = {
  id: 'credit',
  before: {
    'an account for 50 of 200 parallel callers: price of the generated output': '64035000',
    'an account for 50 of 200 parallel callers: credits short': '48035000',
    'an account for 50 of 200 parallel callers: limited answers that name their limit': '0 of 0',
    'an account for 50 of 200 parallel callers: neither served nor refused with 402': '0',
    'an account for 50 of 200 parallel callers: served, refused': '200, 0',
    'an account: left of it': '0',
    'a monthly limit for 50 of 200 parallel callers: price of the generated output': '64035000',
    'a monthly limit for 50 of 200 parallel callers: credits short': '0',
    'a monthly limit for 50 of 200 parallel callers: limited answers that name their limit':
      '0 of 0',
    'a monthly limit for 50 of 200 parallel callers: neither served nor refused with 402': '0',
    'a monthly limit for 50 of 200 parallel callers: served, refused': '200, 0',
    "the neighbour's p99": '279 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const account = await askAll(stronghold, 'account', stronghold.keys.small);
    const limited = await makeLimitedKey(stronghold);
    const month = await askAll(stronghold, 'month', limited.key);
    const { lines, tenantId } = await describe(stronghold, 'an account', account);
    const [{ balance }] = await stronghold.query(
      'SELECT balance FROM accounts WHERE tenant_id = $1',
      [tenantId],
    );
    return [
      ...lines,
      told('an account: left of it', balance),
      ...(await describe(stronghold, 'a monthly limit', month)).lines,
    ];
  },
};

async function makeLimitedKey(stronghold) {
  const { text } = await stronghold.call('/v1/customer/api-keys', {
    key: stronghold.keys.attackerManagement,
    body: { name: 'limited', monthly_spend_limit: SMALL_CREDITS, rate_limit_per_minute: 1_000 },
  });
  return JSON.parse(text);
}

/** Each vendor generates as much as it may, within a second. */
function askAll(stronghold, label, key) {
  return Promise.all(
    Array.from({ length: CALLERS }, async (_, index) => {
      await wait(index * APART_MS);
      const id = `${label}-${index}`;
      const plan = { id, reasoning: 'max', pace: MAX_TOKENS };
      const seen = await ask(stronghold, {
        key,
        readsHold: false,
        body: makeBody('chat', { model: 'bench/maker', plan }),
      });
      return { id, seen };
    }),
  );
}

async function describe(stronghold, what, answers) {
  const served = answers.filter(({ seen }) => seen.status === 200);
  const refused = answers.filter(({ seen }) => seen.status === 402);
  const calls = new Map((await stronghold.vendorCalls()).map((call) => [call.id, call]));
  const rows = await stronghold.query(
    'SELECT tenant_id, cost, shortfall FROM request_logs WHERE request_id = ANY($1)',
    [answers.map(({ seen }) => seen.requestId).filter((id) => id !== undefined)],
  );
  const made = served.reduce((sum, { id }) => sum + priceOf(calls.get(id)), 0);
  const limited = served.filter(({ id }) => calls.get(id).limit < MAX_TOKENS);
  const named = limited.filter(
    ({ id, seen }) => Number(seen.headers['x-gateway-output-limit']) === calls.get(id).limit,
  );
  const prefix = `${what} for 50 of ${CALLERS} parallel callers`;
  return {
    tenantId: rows[0]?.tenant_id,
    lines: [
      atMost(`${prefix}: price of the generated output`, made, SMALL_CREDITS),
      none(
        `${prefix}: credits short`,
        rows.reduce((sum, { shortfall }) => sum + shortfall, 0),
      ),
      {
        what: `${prefix}: limited answers that name their limit`,
        figure: `${named.length} of ${limited.length}`,
        bound: 'all, and some',
        isMet: named.length === limited.length && limited.length > 0,
      },
      none(
        `${prefix}: neither served nor refused with 402`,
        CALLERS - served.length - refused.length,
      ),
      told(`${prefix}: served, refused`, `${served.length}, ${refused.length}`),
    ],
  };
}
