import { describe, expect, it } from '@jest/globals';
import { ConversationPlaces, type ConversationPlace } from './conversation-places.js';

const at = (provider: string): ConversationPlace => ({ model: 'm', provider, account: undefined });

function world(maxPlaces = 3) {
  const clock = { nowMs: 0 };
  const places = new ConversationPlaces(() => clock.nowMs, maxPlaces);
  const moved: string[] = [];
  places.onMoved = (key, { provider }) => void moved.push(`${key} ${provider}`);
  return { clock, places, moved };
}

describe(ConversationPlaces.name, () => {
  it('remembers a place for its TTL after the last use', () => {
    const { clock, places } = world();
    places.note('a', at('p'), 1_000);
    clock.nowMs = 999;
    expect(places.of('a')).toMatchObject(at('p'));
    places.note('a', at('p'), 1_000);
    clock.nowMs = 1_998;
    expect(places.of('a')).toMatchObject(at('p'));
    clock.nowMs = 1_999;
    expect(places.of('a')).toBeUndefined();
  });

  it('evicts the least recently used entry when full', () => {
    const { places } = world();
    for (const key of ['a', 'b', 'c', 'a', 'd']) places.note(key, at('p'), 1_000);
    expect(places.size).toBe(3);
    expect(['a', 'b', 'c', 'd'].filter((key) => places.of(key))).toEqual(['a', 'c', 'd']);
  });

  it('reports new and moved conversations, but not those learned from others', () => {
    const { clock, places, moved } = world();
    places.note('a', at('p'), 1_000);
    places.note('a', at('p'), 1_000);
    places.note('a', at('q'), 1_000);
    places.learn('b', at('p'), 1_000);
    places.note('b', at('p'), 1_000);
    clock.nowMs = 1_000;
    places.note('b', at('p'), 1_000);
    expect(moved).toEqual(['a p', 'a q', 'b p']);
  });
});
