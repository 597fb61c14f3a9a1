import { describe, expect, it } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import type { CachedAnswer } from './cache/cached-answer.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { Plan } from './plan.js';
import { freeRoute, replay } from './opened-answer.js';

const answer: CachedAnswer = {
  route: { model: 'a/b', provider: 'a', catalogueId: 'a/*', upstreamModel: 'b-2024' },
  droppedParams: ['seed'],
  events: [
    { type: 'usage', usage: { ...NO_USAGE, inputTokens: 3 } },
    { type: 'text', choice: 0, text: 'Hi' },
    { type: 'finish', choice: 0, reason: 'stop' },
  ],
};

describe(replay.name, () => {
  it('replays the cached answer after its original route without calling a vendor', async () => {
    const context = {
      requestId: 'id',
      endpoint: 'chat',
      receivedAt: new Date(),
      callerGone: new AbortController().signal,
    };
    const plan = new Plan(chatRequest(), [freeRoute(answer)], context);
    const events: unknown[] = [];
    for await (const event of replay(plan, answer)) events.push(event);
    expect(events).toEqual([
      { type: 'route', route: plan.routes[0], droppedParams: ['seed'] },
      ...answer.events,
    ]);
    expect(plan.routes[0]).toMatchObject({ ...answer.route, trafficMode: 'shared' });
    expect([plan.attempts, plan.upstreamCalled]).toEqual([[], false]);
  });

  it('costs nothing, whatever the usage', () => {
    const { pricing, ceiling } = freeRoute(answer);
    expect(new Set(Object.values(pricing))).toEqual(new Set([0n]));
    expect(ceiling).toEqual(NO_USAGE);
  });
});
