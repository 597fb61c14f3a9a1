import { describe, expect, it, jest } from '@jest/globals';
import { InstanceChannel, type TextListener } from '../../platform/channel/instance-channel.js';
import type { DatabaseNotices } from '../../platform/database/database-notices.js';
import type { Database } from '../../platform/database/database.js';
import { RoutePauses } from './route-pauses.service.js';

const ROUTE = { provider: 'openai', model: 'gpt', catalogueId: 'gpt' };
const PAUSE = {
  provider: 'openai',
  model: null,
  reason: 'r',
  pausedBy: 'n',
  pausedAt: new Date(),
  until: null,
};

/** One channel and one database for all instances; a read finds the current rows. */
class Fleet {
  rows: object[] = [];
  readonly published: string[] = [];
  isAway = false;
  private readonly listeners: TextListener[] = [];

  async start(options: { isBroken?: boolean } = {}): Promise<RoutePauses> {
    let looks = 0;
    const query = (): Promise<{ rows: object[] }> => {
      if (options.isBroken && ++looks > 2) return Promise.reject(new Error('away'));
      return Promise.resolve({ rows: this.rows });
    };
    const database = { lookUps: { query } } as unknown as Database;
    const notices = { listen: () => () => undefined } as unknown as DatabaseNotices;
    const pauses = new RoutePauses(database, notices, new FleetChannel(this));
    await pauses.onModuleInit();
    return pauses;
  }

  listen(listener: TextListener): void {
    this.listeners.push(listener);
  }

  say(text: string): void {
    this.published.push(text);
    setTimeout(() => {
      for (const listener of this.listeners) listener(text);
    }, 1);
  }
}

class FleetChannel extends InstanceChannel {
  readonly maxBytes = 7_900;

  constructor(private readonly fleet: Fleet) {
    super();
  }

  listen(_topic: string, onText: TextListener): void {
    this.fleet.listen(onText);
  }

  publish(_topic: string, text: string): Promise<boolean> {
    if (!this.fleet.isAway) this.fleet.say(text);
    return Promise.resolve(!this.fleet.isAway);
  }
}

describe(RoutePauses.name, () => {
  it('applies a change everywhere once it has spread', async () => {
    const fleet = new Fleet();
    const [one, two, three] = [await fleet.start(), await fleet.start(), await fleet.start()];
    fleet.rows = [PAUSE];
    expect(two.of(ROUTE)).toBeUndefined();
    await one.spread(2);
    for (const each of [one, two, three]) expect(each.of(ROUTE)).toMatchObject({ reason: 'r' });
    expect(fleet.published).toHaveLength(3);
  });

  it('sends nothing on a single instance', async () => {
    const fleet = new Fleet();
    const one = await fleet.start();
    fleet.rows = [PAUSE];
    await one.spread(0);
    expect(one.of(ROUTE)).toBeDefined();
    expect(fleet.published).toEqual([]);
  });

  it.each([
    ['an instance that does not answer', {}, 2],
    ['one that cannot read its database', { isBroken: true }, 1],
  ])('waits at most a second for %s', async (_who, options, others) => {
    jest.useFakeTimers();
    try {
      const fleet = new Fleet();
      const one = await fleet.start();
      const two = await fleet.start(options);
      fleet.rows = [PAUSE];
      let isDone = false;
      const spread = one.spread(others).then(() => (isDone = true));
      await jest.advanceTimersByTimeAsync(990);
      expect(isDone).toBe(false);
      await jest.advanceTimersByTimeAsync(20);
      await spread;
      expect(two.of(ROUTE) === undefined).toBe('isBroken' in options);
    } finally {
      jest.useRealTimers();
    }
  });

  it('does not wait during a channel outage', async () => {
    const fleet = new Fleet();
    const one = await fleet.start();
    fleet.isAway = true;
    fleet.rows = [PAUSE];
    jest.useFakeTimers();
    // No time passes.
    await one.spread(5).finally(() => jest.useRealTimers());
    expect(one.of(ROUTE)).toBeDefined();
  });

  it.each(['', 'ask', 'ask me', 'seen', `seen ${'0'.repeat(36)}`, `ask ${'z'.repeat(36)}`, '{}'])(
    'ignores %j',
    async (text) => {
      const fleet = new Fleet();
      await fleet.start();
      fleet.say(text);
      await new Promise((resolve) => setTimeout(resolve, 10));
      expect(fleet.published).toEqual([text]);
    },
  );
});
