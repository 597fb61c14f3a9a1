import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RoutingService } from './routing.service.js';
import { GOOD, bad, limited, World, CHAIN } from '../../test/support/routing-world.js';

describe(`${RoutingService.name}, asked to wait`, () => {
  beforeAll(() => void Logger.overrideLogger(false));
  afterAll(() => void Logger.overrideLogger(['error', 'warn', 'log']));

  describe('Retry-After', () => {
    it('is not waited out while another provider has the model', async () => {
      const world = new World({ openai: [limited(1_500)] });
      const startedMs = performance.now();
      await world.open();
      expect(world.called).toEqual(['openai', 'azure']);
      expect(performance.now() - startedMs).toBeLessThan(1_000);
    });

    it('of a moment is waited out before leaving for another model', async () => {
      const world = new World({ openai: [limited(60)], azure: [limited(30)] });
      const startedMs = performance.now();
      const { events } = await world.open(CHAIN);
      expect(performance.now() - startedMs).toBeGreaterThanOrEqual(25);
      expect(world.called).toEqual(['openai', 'azure', 'azure']);
      expect(events[0]).toMatchObject({ route: { provider: 'azure' } });
    });

    it('is waited out once, then the next model is asked', async () => {
      const world = new World({ openai: [limited(30)], azure: [limited(20), limited(20)] });
      await world.open(CHAIN);
      expect(world.called).toEqual(['openai', 'azure', 'azure', 'anthropic']);
    });

    it('of more than 2 s is not waited out before another model', async () => {
      const world = new World({ openai: [limited(2_001)], azure: [limited(60_000)] });
      const startedMs = performance.now();
      await world.open(CHAIN);
      expect(world.called).toEqual(['openai', 'azure', 'anthropic']);
      expect(performance.now() - startedMs).toBeLessThan(1_000);
    });

    it('is waited out before giving up', async () => {
      const world = new World({ openai: [limited(50)], azure: [limited(20)] });
      const { events, outcomes } = await world.open();
      expect(world.called).toEqual(['openai', 'azure', 'azure']);
      expect(outcomes).toEqual(['rate_limited', 'rate_limited', 'answered']);
      expect(events[0]).toMatchObject({ route: { provider: 'azure' } });
    });

    it('of any model is waited out before giving up', async () => {
      const world = new World({
        openai: [limited(2_050), GOOD],
        azure: [bad('operator')],
        anthropic: [bad('operator')],
      });
      const { events } = await world.open(CHAIN);
      expect(world.called).toEqual(['openai', 'azure', 'anthropic', 'openai']);
      expect(events[0]).toMatchObject({ route: { provider: 'openai' } });
    });

    it('counts as the route gave it last', async () => {
      const world = new World({
        openai: [limited(20), bad('operator')],
        azure: [bad('operator')],
        anthropic: [bad('operator')],
      });
      const { failure } = await world.open(CHAIN);
      expect(failure).toMatchObject({ status: 502 });
      expect(world.called).toEqual(['openai', 'azure', 'openai', 'anthropic']);
    });

    it('of more than 10 s is passed on instead', async () => {
      const world = new World({ openai: [limited(10_001)], azure: [limited(20_000)] });
      expect((await world.open()).failure).toMatchObject({ status: 429, retryAfterSeconds: 11 });
      expect(world.called).toEqual(['openai', 'azure']);
    });

    it('ends in the caller’s own fault when the late try finds one', async () => {
      const late = new World({ openai: [limited(10), bad('caller')], azure: [bad('operator')] });
      expect((await late.open(CHAIN)).failure).toMatchObject({ status: 400 });
      expect(late.called).toEqual(['openai', 'azure', 'openai']);
    });
  });
});
