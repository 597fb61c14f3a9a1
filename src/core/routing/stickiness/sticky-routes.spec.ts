import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InstanceChannel, type TextListener } from '../../../platform/channel/instance-channel.js';
import { ConversationPlaces, type ConversationPlace } from './conversation-places.js';
import { StickyRoutes } from './sticky-routes.service.js';

class FakeChannel extends InstanceChannel {
  readonly maxBytes = 32_768;
  readonly said: string[] = [];
  isAway = false;
  private readonly listeners: TextListener[] = [];

  listen(_topic: string, onText: TextListener): void {
    this.listeners.push(onText);
  }

  publish(_topic: string, text: string): Promise<boolean> {
    if (this.isAway) return Promise.resolve(false);
    this.said.push(text);
    for (const listener of this.listeners) listener(text);
    return Promise.resolve(true);
  }
}

const place = (provider: string, account?: string): ConversationPlace => ({
  model: 'm',
  provider,
  account,
});
const keyOf = (number: number) => String(number).padStart(16, '0');

function instance(channel: InstanceChannel | undefined) {
  const places = new ConversationPlaces(() => Date.now());
  const shared = new StickyRoutes(places, channel);
  shared.onApplicationBootstrap();
  return { places, shared };
}

describe(StickyRoutes.name, () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('reports new and moved conversations in batches', () => {
    const channel = new FakeChannel();
    const [one, other] = [instance(channel), instance(channel)];
    for (let each = 0; each < 150; each++) one.places.note(keyOf(each), place('p', 'a'), 1_000);
    one.places.note(keyOf(0), place('q'), 1_000);
    jest.advanceTimersByTime(100);
    expect(channel.said).toHaveLength(2);
    for (const text of channel.said) expect(text.length).toBeLessThan(channel.maxBytes / 2);
    expect(other.places.of(keyOf(0))).toMatchObject(place('q'));
    expect(other.places.of(keyOf(149))).toMatchObject(place('p', 'a'));
    // Learned entries are not reported again, nor are unmoved conversations.
    other.places.note(keyOf(149), place('p', 'a'), 1_000);
    one.places.note(keyOf(1), place('p', 'a'), 1_000);
    jest.advanceTimersByTime(100);
    expect(channel.said).toHaveLength(2);
    jest.advanceTimersByTime(1_000);
    expect(other.places.of(keyOf(0))).toBeUndefined();
  });

  it('works alone during a channel outage, or without a channel', () => {
    const channel = new FakeChannel();
    const [one, other] = [instance(channel), instance(channel)];
    channel.isAway = true;
    one.places.note(keyOf(1), place('p'), 60_000);
    jest.advanceTimersByTime(100);
    expect([one, other].map(({ places }) => places.size)).toEqual([1, 0]);
    const alone = instance(undefined);
    alone.places.note(keyOf(1), place('p'), 60_000);
    expect(alone.places.size).toBe(1);
    one.shared.onApplicationShutdown();
  });

  it.each([
    'invalid JSON',
    '{}',
    '["x", null]',
    '["x", ["short", "m", "p", null, 1000]]',
    JSON.stringify(['x', [keyOf(1), 'm', 'p', null, 1e12]]),
    JSON.stringify(['x', [keyOf(1), 'm', 'p', null, -1]]),
    JSON.stringify(['x', [keyOf(1), 'm', 'p', 5, 1_000]]),
    JSON.stringify(['x', [keyOf(1), 'm'.repeat(257), 'p', null, 1_000]]),
    JSON.stringify(['x', [keyOf(1), 'm', 'p']]),
  ])('ignores %s', async (text) => {
    const channel = new FakeChannel();
    const { places } = instance(channel);
    await channel.publish('conversations', text);
    expect(places.size).toBe(0);
    await channel.publish(
      'conversations',
      JSON.stringify(['x', [keyOf(1), 'm', 'p', null, 1_000]]),
    );
    expect(places.size).toBe(1);
  });
});
