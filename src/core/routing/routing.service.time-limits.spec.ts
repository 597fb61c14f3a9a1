import { Logger } from '@nestjs/common';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { Timestamp } from '../../platform/time/timestamp.js';
import { RoutingService } from './routing.service.js';
import { onFakeClock } from '../../../test/support/on-fake-clock.js';
import { bad, COVERS_ALL, limited, World } from '../../../test/support/routing-environment.js';

describe(`${RoutingService.name}time limits`, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('limits a call to the remaining time of the request', async () => {
    const world = new World({ openai: [bad('timeout')] });
    const plan = await world.plan({}, new Date(Date.now() - 590_000));
    for await (const _ of world.service.open(plan, COVERS_ALL));
    expect(world.calls.map(({ limits }) => limits.requestMs)).toEqual([10_000, 10_000]);
  });

  it('makes no call once the request’s time is up', async () => {
    const world = new World({});
    const { failure, outcomes } = await world.open({}, COVERS_ALL, new Date(Date.now() - 600_000));
    expect(failure).toMatchObject({ status: 504, type: 'timeout_error' });
    expect(outcomes).toEqual([]);
    expect(world.called).toEqual([]);
  });

  it('is unaffected by a change of the system clock', async () => {
    const receivedAt = new Timestamp();
    jest.setSystemTime(Date.now() + 3_600_000);
    const world = new World({});
    const { failure } = await world.open({}, COVERS_ALL, receivedAt);
    expect(failure).toBeUndefined();
    expect(world.calls.map(({ limits }) => limits.requestMs)).toEqual([600_000]);
  });

  it('reports earlier failures when the time is up before the next route', async () => {
    const world = new World({ openai: [{ ...bad('timeout'), delayMs: 350 }] });
    const receivedAt = new Date(Date.now() - 599_700);
    const { result } = await onFakeClock(() => world.open({}, COVERS_ALL, receivedAt));
    const { failure, outcomes } = result;
    expect(failure).toMatchObject({ status: 504 });
    expect((failure as Error).message).toContain('openai');
    expect(outcomes).toEqual(['timeout']);
    expect(world.called).toEqual(['openai']);
  });

  it('does not wait for a Retry-After beyond the request’s time', async () => {
    const world = new World({ openai: [limited(1_500)], azure: [limited(1_500)] });
    const receivedAt = new Date(Date.now() - 599_000);
    const { result, passedMs } = await onFakeClock(() => world.open({}, COVERS_ALL, receivedAt));
    expect(result.failure).toMatchObject({ status: 429 });
    expect(passedMs).toBe(0);
  });

  it.each([
    // Remaining time, time of the timeout, and whether the route is at fault.
    [300, 350, false],
    [5_000, 60, true],
  ])(
    'with %d ms left, blames the route for a timeout after %d ms: %s',
    async (leftMs, delayMs, isBlamed) => {
      const five = Array.from({ length: 5 });
      const azure = five.map(() => ({ ...bad('timeout'), delayMs }));
      const world = new World({ openai: five.map(() => bad('unsupported')), azure });
      for (const _ of five) {
        const receivedAt = new Date(Date.now() - 600_000 + leftMs);
        await onFakeClock(() => world.open({}, COVERS_ALL, receivedAt));
      }
      expect(world.called.filter((provider) => provider === 'azure')).toHaveLength(5);
      const { routes } = await world.plan();
      expect(routes.map(({ provider }) => provider)).toEqual(
        isBlamed ? ['openai'] : ['openai', 'azure'],
      );
    },
  );
});
