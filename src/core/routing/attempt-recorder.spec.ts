import { describe, expect, it, jest } from '@jest/globals';
import type { Logger } from '@nestjs/common';
import { SYSTEM_CLOCK } from '../../canonical/clock.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { PlannedRoute } from './plan.js';
import type { RouteHealth } from './route-health.js';
import { RouteTally } from './route-tally.js';
import { AttemptRecorder } from './attempt-recorder.js';

const route = {
  provider: 'openai',
  upstreamModel: 'gpt',
  catalogueId: 'openai/gpt',
} as PlannedRoute;

function world() {
  const health = {
    recordAttempt: jest.fn(),
    recordAnswer: jest.fn<(...parameters: unknown[]) => void>(),
    recordCompletion: jest.fn(),
    recordFailure: jest.fn<(...parameters: unknown[]) => void>(),
  };
  const observeAttempt = jest.fn();
  const warn = jest.fn();
  const records = {
    health: health as unknown as RouteHealth,
    metrics: { observeAttempt } as unknown as GatewayMetrics,
    tally: new RouteTally(),
    logger: { warn } as unknown as Logger,
    clock: SYSTEM_CLOCK,
  };
  return { health, observeAttempt, warn, records };
}

describe(AttemptRecorder.name, () => {
  it('records a successful call', () => {
    const { health, observeAttempt, warn, records } = world();
    const tried = new AttemptRecorder(route, records, 'request-1');
    expect(health.recordAttempt).toHaveBeenCalledWith(route);
    tried.answered(true);
    expect(health.recordAnswer).toHaveBeenCalledWith(
      route,
      expect.any(Number),
      expect.any(Number),
      true,
    );
    expect(Number.isInteger(tried.end('answered'))).toBe(true);
    expect(observeAttempt).toHaveBeenCalledWith('openai', 'openai/gpt', 'answered');
    tried.completed();
    expect(health.recordCompletion).toHaveBeenCalledWith(route);
    expect(warn).not.toHaveBeenCalled();
  });

  it('dates a failure from the start of the call, and a cut from the start of the answer', async () => {
    const { health, records } = world();
    const tried = new AttemptRecorder(route, records, 'request-1');
    const error = new UpstreamError({ failure: 'cut', message: '' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    tried.failed(error);
    const beginMs = health.recordFailure.mock.calls[0]![2] as number;
    expect(beginMs).toBeLessThan(performance.now() - 3);
    tried.answered(true);
    tried.failed(error, 'interrupted');
    const answerMs = health.recordAnswer.mock.calls[0]![2] as number;
    expect(answerMs).toBeGreaterThan(beginMs);
    expect(health.recordFailure).toHaveBeenLastCalledWith(route, error, answerMs);
  });

  it('logs the failure, status, code and request id, but not the vendor’s text', () => {
    const { warn, records } = world();
    const tried = new AttemptRecorder(route, records, 'request-1');
    const message = 'Your prompt "my secret" is bad.';
    tried.failed(new UpstreamError({ failure: 'server', status: 503, message }));
    const cause = Object.assign(new Error(message), { code: 'ECONNREFUSED' });
    tried.failed(new UpstreamError({ failure: 'connect', message }, { cause }));
    const odd = { code: message };
    tried.failed(new UpstreamError({ failure: 'cut', message }, { cause: odd }), 'interrupted');
    const id = { request_id: 'request-1' };
    expect(warn.mock.calls).toEqual([
      ['openai/gpt failed: server, status 503', id],
      ['openai/gpt failed: connect, ECONNREFUSED', id],
      ['openai/gpt interrupted: cut', id],
    ]);
  });

  it('counts answers, failures and interruptions, but not failures that say nothing about the route', () => {
    const { records } = world();
    const { tally } = records;
    const failed = (failure: 'server' | 'caller', from = route) => {
      const tried = new AttemptRecorder(from, records, 'id');
      tried.failed(new UpstreamError({ failure, message: '' }));
      tried.end(failure);
    };
    const answered = new AttemptRecorder(route, records, 'id');
    answered.answered(true);
    answered.end('answered');
    answered.failed(new UpstreamError({ failure: 'cut', message: '' }), 'interrupted');
    failed('server');
    failed('caller');
    failed('server', { ...route, byok: { credential: { id: 'own' } } } as PlannedRoute);
    new AttemptRecorder(route, records, 'id').end('aborted');
    const counts = tally.take();
    expect(counts).toMatchObject([
      { provider: 'openai', model: 'openai/gpt', answered: 1, failed: 2 },
    ]);
    expect(tally.take()).toEqual([]);
    tally.putBack(counts);
    failed('server');
    expect(tally.take().reduce((sum, each) => sum + each.failed, 0)).toBe(3);
  });

  it('distinguishes a tenant’s own account from the operator’s', () => {
    const { warn, records } = world();
    const own = { ...route, byok: { credential: { id: 'credential-1' } } } as PlannedRoute;
    new AttemptRecorder(own, records, 'id').failed(
      new UpstreamError({ failure: 'operator', message: '' }),
    );
    expect(warn.mock.calls[0]![0]).toBe('openai/gpt with credential credential-1 failed: operator');
  });
});
