import { setTimeout as wait } from 'node:timers/promises';

const AT_ONCE = 16;
const LASTS_MS = 6_000;
const SUBMITTED_AT_MOST = 100;
/** Job submissions count towards their key's rate limit. */
const SUBMITTERS_RATE = 20;

const KINDS = [
  { name: 'lists', path: '/v1/customer/logs?limit=100&offset=100' },
  { name: 'sums', path: '/v1/customer/analytics?group_by=model' },
  { name: 'exports', path: '/v1/customer/logs/export.csv' },
  { name: 'submissions of jobs', path: '/v1/jobs', body: { model: 'sandbox/image', prompt: 'Hi' } },
];

/** One key calls everything except inference as fast as it can. */
export const managementAttack = {
  id: 'management',
  before: {
    'lists of one key: refused with 429 and Retry-After': '167 × 200',
    'sums of one key: refused with 429 and Retry-After': '120 × 200',
    'exports of one key: refused with 429 and Retry-After': '160 × 200',
    'submissions of jobs of one key: refused with 429 and Retry-After': '20 × 202, 80 × 429',
    "the neighbour's p99": '426 ms',
    'the process': 'lives',
  },
  async prepare(stronghold) {
    // Earlier attacks need a higher limit than is needed here.
    await stronghold.restart({ GATEWAY_MANAGEMENT_RATE_LIMIT_PER_MINUTE: '100' });
    for (const { path, body } of KINDS) await stronghold.call(path, { body });
  },
  async run(stronghold) {
    const { text } = await stronghold.call('/v1/customer/api-keys', {
      key: stronghold.keys.attackerManagement,
      body: { name: 'submitter', rate_limit_per_minute: SUBMITTERS_RATE },
    });
    const submitter = JSON.parse(text).key;
    return Promise.all(
      KINDS.map((kind) => hammer(stronghold, { ...kind, key: kind.body && submitter })),
    );
  },
};

async function hammer(stronghold, { name, path, body, key }) {
  const statuses = new Map();
  let isOver = false;
  let calls = 0;
  const work = async () => {
    while (!isOver && (body === undefined || calls < SUBMITTED_AT_MOST)) {
      calls++;
      const { status, headers } = await stronghold.call(path, { body, key });
      const isTold = status !== 429 || Number(headers['retry-after']) > 0;
      const outcome = isTold ? status : '429 without Retry-After';
      statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1);
      // Refused requests are retried at a pace that leaves the driver some time.
      if (status === 429) await wait(10);
    }
  };
  const workers = Promise.all(Array.from({ length: AT_ONCE }, work));
  await Promise.race([workers, wait(LASTS_MS)]);
  isOver = true;
  await Promise.race([workers, wait(LASTS_MS)]);
  const refused = statuses.get(429) ?? 0;
  return {
    what: `${name} of one key: refused with 429 and Retry-After`,
    figure: [...statuses].map(([status, count]) => `${count} × ${status}`).join(', '),
    bound: 'some 429',
    isMet: refused > 0,
  };
}
