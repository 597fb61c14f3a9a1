import { describe, expect, it, jest } from '@jest/globals';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { Plan, type PlannedRoute, type RouteAttempt } from './plan.js';

const route = { provider: 'openai' } as PlannedRoute;

function planWith(...outcomes: RouteAttempt['outcome'][]): Plan {
  const plan = new Plan(chatRequest({ stream: true }), [route], {
    requestId: 'id',
    endpoint: 'chat',
    receivedAt: new Date(5),
    callerGone: new AbortController().signal,
  });
  for (const outcome of outcomes) {
    plan.attempts.push({ route, startedAt: new Date(), durationMs: 0, outcome });
    plan.vendorSignal.noteSent?.();
  }
  return plan;
}

describe(Plan.name, () => {
  it('provides what the ledger needs', () => {
    expect(planWith()).toMatchObject({
      requestId: 'id',
      endpoint: 'chat',
      startedAt: new Date(5),
      streamed: true,
      estimate: { ...NO_USAGE, inputTokens: 1 },
      routes: [route],
    });
  });

  it.each<[RouteAttempt['outcome'][], boolean]>([
    [[], false],
    [['pending'], true],
    [['slow_reader'], true],
    [['answered'], true],
    [['aborted'], true],
    [['server', 'pending'], true],
    [['server'], false],
    [['rate_limited', 'uncovered'], false],
    [['answered', 'cut'], false],
  ])('after %j reports whether a vendor was called: %s', (outcomes, called) => {
    expect(planWith(...outcomes).upstreamCalled).toBe(called);
  });

  it('reports no call before the request is sent', () => {
    const plan = planWith('server');
    const startedAt = new Date(0);
    plan.attempts.push({ route, startedAt, durationMs: 0, outcome: 'pending' });
    expect(plan.upstreamCalled).toBe(false);
    plan.vendorSignal.noteSent?.();
    expect(plan.upstreamCalled).toBe(true);
    // Connecting and fetching media is not the vendor's work.
    expect(plan.vendorWork!.startedAt.getTime()).toBeGreaterThan(0);
  });

  it('ignores the speed of an answer that waited for its reader', () => {
    const plan = planWith('answered');
    const recordSpeed = jest.fn();
    plan.speeds = { recordSpeed, tokensPerSecond: () => undefined };
    for (const readerLagMs of [400, 1]) {
      Object.assign(plan.callerGone, { readerLagMs });
      Object.assign(plan.attempts.at(-1)!, { sentAt: new Date(Date.now() - 1_000) });
      plan.noteOutput({ ...NO_USAGE, outputTokens: 100 });
    }
    expect(recordSpeed).toHaveBeenCalledTimes(1);
  });

  it('identifies the one of two concurrent calls that the caller pays for', () => {
    const plan = planWith('pending');
    const sentAt = new Date(7);
    const spare: RouteAttempt = {
      ...{ route, startedAt: sentAt, sentAt, durationMs: 0, outcome: 'pending' },
      isUnbilled: true,
    };
    plan.attempts.push(spare);
    const [first] = plan.attempts;
    expect(plan.vendorWork!.startedAt).toBe(first!.sentAt);
    Object.assign(first!, { outcome: 'outpaced', isUnbilled: true });
    Object.assign(spare, { outcome: 'answered', isUnbilled: false });
    expect([plan.vendorWork!.startedAt, plan.upstreamCalled]).toEqual([sentAt, true]);
    const recordSpeed = jest.fn();
    plan.speeds = { recordSpeed, tokensPerSecond: () => undefined };
    plan.noteOutput({ ...NO_USAGE, outputTokens: 5 });
    expect(recordSpeed).toHaveBeenCalledWith(route, 5, expect.any(Number));
  });

  it('averages the speed of several answers', () => {
    const plan = planWith('answered');
    const output = { choices: 4 } as PlannedRoute['output'];
    Object.assign(plan.attempts[0]!, { route: { ...route, output } });
    const recordSpeed = jest.fn();
    plan.speeds = { recordSpeed, tokensPerSecond: () => undefined };
    plan.noteOutput({ ...NO_USAGE, outputTokens: 400 });
    expect(recordSpeed).toHaveBeenCalledWith(expect.anything(), 100, expect.any(Number));
  });
});
