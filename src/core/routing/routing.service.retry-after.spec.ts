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
import { RoutingService } from './routing.service.js';
import { onFakeClock } from '../../../test/support/on-fake-clock.js';
import { GOOD, bad, limited, World, CHAIN } from '../../../test/support/routing-environment.js';

describe(`${RoutingService.name}on Retry-After`, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  describe('Retry-After', () => {
    it('is not waited for while another provider has the model', async () => {
      const world = new World({ openai: [limited(1_500)] });
      const { passedMs } = await onFakeClock(() => world.open());
      expect(world.called).toEqual(['openai', 'azure']);
      expect(passedMs).toBe(0);
    });

    it('is waited for, if short, before another model is tried', async () => {
      const world = new World({ openai: [limited(60)], azure: [limited(30)] });
      const { result, passedMs } = await onFakeClock(() => world.open(CHAIN));
      expect(passedMs).toBe(30);
      expect(world.called).toEqual(['openai', 'azure', 'azure']);
      expect(result.events[0]).toMatchObject({ route: { provider: 'azure' } });
    });

    it('is waited for once, then the next model is tried', async () => {
      const world = new World({ openai: [limited(30)], azure: [limited(20), limited(20)] });
      await onFakeClock(() => world.open(CHAIN));
      expect(world.called).toEqual(['openai', 'azure', 'azure', 'anthropic']);
    });

    it('of more than 2 s is not waited for before another model', async () => {
      const world = new World({ openai: [limited(2_001)], azure: [limited(60_000)] });
      const { passedMs } = await onFakeClock(() => world.open(CHAIN));
      expect(world.called).toEqual(['openai', 'azure', 'anthropic']);
      expect(passedMs).toBe(0);
    });

    it('is waited for before giving up', async () => {
      const world = new World({ openai: [limited(50)], azure: [limited(20)] });
      const { result, passedMs } = await onFakeClock(() => world.open());
      const { events, outcomes } = result;
      expect(passedMs).toBe(20);
      expect(world.called).toEqual(['openai', 'azure', 'azure']);
      expect(outcomes).toEqual(['rate_limited', 'rate_limited', 'answered']);
      expect(events[0]).toMatchObject({ route: { provider: 'azure' } });
    });

    it('of any model is waited for before giving up', async () => {
      const world = new World({
        openai: [limited(2_050), GOOD],
        azure: [bad('operator')],
        anthropic: [bad('operator')],
      });
      const { result } = await onFakeClock(() => world.open(CHAIN));
      expect(world.called).toEqual(['openai', 'azure', 'anthropic', 'openai']);
      expect(result.events[0]).toMatchObject({ route: { provider: 'openai' } });
    });

    it('is taken from each route’s last failure', async () => {
      const world = new World({
        openai: [limited(20), bad('operator')],
        azure: [bad('operator')],
        anthropic: [bad('operator')],
      });
      const { result } = await onFakeClock(() => world.open(CHAIN));
      expect(result.failure).toMatchObject({ status: 502 });
      expect(world.called).toEqual(['openai', 'azure', 'openai', 'anthropic']);
    });

    it('of more than 10 s is passed on instead', async () => {
      const world = new World({ openai: [limited(10_001)], azure: [limited(20_000)] });
      const { result, passedMs } = await onFakeClock(() => world.open());
      expect(result.failure).toMatchObject({ status: 429, retryAfterSeconds: 11 });
      expect(passedMs).toBe(0);
      expect(world.called).toEqual(['openai', 'azure']);
    });

    it('returns the caller’s error when the late try finds one', async () => {
      const late = new World({ openai: [limited(10), bad('caller')], azure: [bad('operator')] });
      const { result } = await onFakeClock(() => late.open(CHAIN));
      expect(result.failure).toMatchObject({ status: 400 });
      expect(late.called).toEqual(['openai', 'azure', 'openai']);
    });
  });
});
