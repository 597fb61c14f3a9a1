import { setTimeout as wait } from 'node:timers/promises';
import { atMost, told } from '../table.mjs';

const WRONG_KEYS = 500;
const AT_ONCE = 20;
/** So many in a minute are answered at once, and a few that were under way with the last of them. */
const FREE = 100;
const SLACK = AT_ONCE;
/** Whoever gets a 401 later than this was slowed. */
const PROMPT_MS = 1_000;
const LIMIT_MS = 10_000;

/** Keys that are guessed, from one address, while a right key from the same is served. */
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
