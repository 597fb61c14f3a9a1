import { describe, expect, it } from '@jest/globals';
import type { SettledEvent, WorkEvent } from './canonical-event.js';
import { collectWork } from './collect.js';
import { NO_USAGE } from './usage.js';
import type { BillableRoute } from './billable-route.js';

const route = { model: 'a/b' } as BillableRoute;
const settled: SettledEvent = {
  type: 'settled',
  cost: 3,
  usage: NO_USAGE,
  usageSource: 'estimated',
};

async function* eventsOf(...events: WorkEvent<string>[]): AsyncGenerator<WorkEvent<string>> {
  yield* events;
}

describe(collectWork.name, () => {
  it('keeps outputs in order, with the route and the settlement', async () => {
    const events = eventsOf(
      { type: 'route', route, droppedParams: ['user'] },
      { type: 'start' },
      { type: 'output', output: 'one' },
      { type: 'usage', usage: NO_USAGE },
      { type: 'output', output: 'two' },
      settled,
    );
    expect(await collectWork(events)).toEqual({
      route,
      droppedParams: ['user'],
      outputs: ['one', 'two'],
      settled,
    });
  });

  it('rejects an answer without output', async () => {
    const events = eventsOf({ type: 'route', route, droppedParams: [] }, settled);
    await expect(collectWork(events)).rejects.toThrow('without its route, output or settlement');
  });
});
