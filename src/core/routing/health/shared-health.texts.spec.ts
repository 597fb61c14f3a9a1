import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  HealthFleet,
  askToWait,
  COOLDOWN_MS,
  fail,
  KEY,
  NAME,
  pass,
} from '../../../../test/support/health-fleet.js';
import { RouteHealth } from '../route-health.js';

let fleet: HealthFleet;

beforeEach(() => {
  jest.useFakeTimers();
  fleet = new HealthFleet();
});
afterEach(() => {
  fleet.end();
  jest.useRealTimers();
});

describe('SharedHealth', () => {
  describe('messages', () => {
    const text = (items: unknown[], fields: object = {}) =>
      JSON.stringify({ v: 1, from: 'other', n: 1, items, ...fields });
    const opened = (fields: object = {}) => ({
      type: 'open',
      name: NAME,
      ageMs: 0,
      restMs: 5_000,
      ...fields,
    });
    const receive = async (...texts: string[]): Promise<RouteHealth> => {
      const { health } = fleet.start();
      for (const each of texts) fleet.bus.say(each);
      await pass(10);
      return health;
    };

    it('ignores late and duplicate messages', async () => {
      const well = { type: 'well', name: NAME, ageMs: 0, restMs: 0 };
      const health = await receive(
        text([opened()], { n: 7 }),
        text([well], { n: 8 }),
        text([opened()], { n: 7 }),
      );
      expect(health.isCooling(KEY)).toBe(false);
    });

    it('ignores reports older than its own knowledge', async () => {
      const { health } = fleet.start();
      fail(health);
      await pass(1_000);
      health.recordAnswer(KEY, 10);
      await pass(100);
      fleet.bus.say(text([opened({ ageMs: 500 })]));
      await pass(10);
      expect(health.isCooling(KEY)).toBe(false);
    });

    it('reads the known part of a message from a later version', async () => {
      const health = await receive(
        text([{ type: 'verdict', name: NAME }, opened({ why: 'x' })], { more: 1 }),
      );
      expect(health.isCooling(KEY)).toBe(true);
    });

    it.each([
      ['invalid JSON', '{'],
      ['null', 'null'],
      ['an array', '[]'],
      ['a number', '5'],
      ['another version', text([opened()], { v: 2 })],
      ['no sender', text([opened()], { from: '' })],
      ['an invalid number', text([opened()], { n: 'x' })],
      ['no items', text([], { items: { 0: opened() } })],
      ['too many items', text(Array.from({ length: 2_001 }, () => opened()))],
      ['an oversized message', text([opened()], { more: 'x'.repeat(70_000) })],
      ['an unconfigured provider', text([opened({ name: 'evil/gpt' })])],
      ['an invalid name', text([opened({ name: { toString: 'x' } })])],
      ['an oversized name', text([opened({ name: `openai/${'x'.repeat(700)}` })])],
      ['an endless cooldown', text([opened({ restMs: 1e300 })])],
      ['a negative cooldown', text([opened({ restMs: -1 })])],
      ['a fractional cooldown', text([opened({ restMs: 1.5 })])],
      ['an age in the future', text([opened({ ageMs: -1 })])],
      [
        'an odd number of figures',
        text([{ type: 'speeds', name: NAME, latencies: [1], speeds: [] }]),
      ],
      ['too many figures', text([{ type: 'speeds', name: NAME, latencies: [1, 1e9], speeds: [] }])],
      ['invalid figures', text([{ type: 'speeds', name: NAME, latencies: [1, 'x'], speeds: [] }])],
      [
        'an incomplete memory',
        text([{ type: 'memory', name: NAME, latencies: [0, []], speeds: [0, [], []] }]),
      ],
      ['a probe of a healthy route', text([{ type: 'trying', name: NAME }])],
    ])('ignores %s', async (_what, each) => {
      const health = await receive(each);
      expect(health.isCooling(KEY)).toBe(false);
      expect(health.sharedRoutes()).toEqual([]);
      expect(health.speedOf(KEY)).toBeUndefined();
    });

    it('never pauses longer than the setting, whatever others report', async () => {
      const health = await receive(text([opened({ restMs: 3_600_000 })]));
      expect(health.isCooling(KEY)).toBe(true);
      await pass(COOLDOWN_MS);
      expect(health.isCooling(KEY)).toBe(false);
    });

    it('keeps its own knowledge when others send made-up names', async () => {
      const one = fleet.start();
      askToWait(one.health, COOLDOWN_MS);
      for (let text_ = 0; text_ < 12; text_++) {
        const items = Array.from({ length: 1_000 }, (_, at) =>
          opened({ name: `openai/${text_}-${at}`, restMs: 9_000 }),
        );
        for (let at = 0; at < items.length; at += 500) {
          fleet.bus.say(text(items.slice(at, at + 500), { n: text_ * 2 + (at > 0 ? 2 : 1) }));
        }
      }
      await pass(50);
      expect(one.health.isCooling(KEY)).toBe(true);
      expect(one.health.sharedRoutes().length).toBeLessThanOrEqual(10_000);
    });
  });
});
