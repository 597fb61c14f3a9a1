import { setTimeout as wait } from 'node:timers/promises';
import { atMost, told } from '../table.mjs';

const WRONG_KEYS = 500;
const AT_ONCE = 20;
/** Number of prompt 401s a minute, plus a few that run concurrently with the last. */
const FREE = 100;
const SLACK = AT_ONCE;
/** A 401 later than this was delayed. */
const PROMPT_MS = 1_000;
const LIMIT_MS = 10_000;

/** Key guessing from one address, from which a valid key must still be served. */
export const keysAttack = {
  id: 'wrong-keys',
  before: {
    'of 500 wrong keys: answered promptly with 401': '500',
    'wrong keys refused with 429': '0',
    'a right key from the same address': 'status 200',
    "the neighbour's p99": '81 ms',
    'the process': 'lives',
  },
  async run(stronghold) {
    const outcomes = [];
    let left = WRONG_KEYS;
    const guess = async () => {
      while (left-- > 0) {
        const key = `sk-wrong-${left}-0000000000000000000000`;
        const startedMs = Date.now();
        const { status } = await stronghold.call('/v1/models', { key });
        outcomes.push({ status, tookMs: Date.now() - startedMs });
      }
    };
    await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, guess)), wait(LIMIT_MS)]);
    const right = await stronghold.call('/v1/models', { key: stronghold.keys.attacker });
    left = 0;
    const prompt = outcomes.filter(({ status, tookMs }) => status === 401 && tookMs < PROMPT_MS);
    const refused = outcomes.filter(({ status }) => status === 429);
    return [
      atMost(
        `of ${WRONG_KEYS} wrong keys: answered promptly with 401`,
        prompt.length,
        FREE + SLACK,
      ),
      told('wrong keys refused with 429', refused.length),
      {
        what: 'a right key from the same address',
        figure: `status ${right.status}`,
        bound: 'status 200',
        isMet: right.status === 200,
      },
    ];
  },
};
