import { setTimeout as wait } from 'node:timers/promises';
import { none } from '../table.mjs';
import { ask } from './callers.mjs';
import { makeBody } from './prompts.mjs';
import { shareLine } from './share-line.mjs';

const LONG = { pace: 200, text: 3_000 };
const UNDER_WAY_MS = 1_500;

/** Requests cut at the end of the drain are charged if content had arrived. */
export const drainAttack = {
  id: 'drain',
  isQuiet: true,
  before: {
    'the drain limit passes after content': '1.05',
    'charged for a whole answer that our stop left undelivered': '183',
    'the process': 'lives',
  },
  async run(stronghold) {
    await stronghold.restart({ GATEWAY_DRAIN_SECONDS: '1' });
    // Each process measures the speed of a route again.
    const warm = makeBody('chat', {
      model: 'bench/drained',
      plan: { pace: 200, text: 400 },
      stream: true,
    });
    await Promise.all([1, 2, 3].map(() => ask(stronghold, { body: warm })));

    const model = (name) => ({ model: `bench/${name}`, plan: { id: name, ...LONG } });
    const streamed = ask(stronghold, {
      body: makeBody('chat', { ...model('drained'), stream: true }),
    });
    const whole = ask(stronghold, { body: makeBody('chat', model('drained-whole')) });
    await wait(UNDER_WAY_MS);
    process.kill(stronghold.pid, 'SIGTERM');
    const [seen] = await Promise.all([streamed, whole, stronghold.exited]);
    const call = await stronghold.vendorCall('drained');
    await stronghold.restart();
    const row = await stronghold.logRow('request_id = $1', [seen.requestId]);
    const wholeRow = await stronghold.logRow('model = $1', ['bench/drained-whole']);
    return [
      shareLine('the drain limit passes after content', { seen, row, call }),
      none('charged for a whole answer that our stop left undelivered', wholeRow?.cost ?? NaN),
    ];
  },
};
