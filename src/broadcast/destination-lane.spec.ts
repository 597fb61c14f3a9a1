import { describe, expect, it } from '@jest/globals';
import { DestinationLane } from './destination-lane.js';

describe(DestinationLane.name, () => {
  const laneOf = (...ids: string[]): DestinationLane => {
    const lane = new DestinationLane('d');
    ids.forEach((id) => lane.add(id));
    return lane;
  };
  const takeAll = (lane: DestinationLane): string[] => {
    const taken: string[] = [];
    for (let id = lane.take(); id !== undefined; id = lane.take()) taken.push(id);
    return taken;
  };

  it('lets four begin, and the next when one ends', () => {
    const lane = laneOf('a', 'b', 'c', 'd', 'e');
    expect(takeAll(lane)).toEqual(['a', 'b', 'c', 'd']);
    lane.finish('b', true);
    expect(takeAll(lane)).toEqual(['e']);
  });

  it('takes a delivery once, however often it is woken for', () => {
    const lane = laneOf('a', 'a');
    expect(takeAll(lane)).toEqual(['a']);
    lane.add('a');
    expect(takeAll(lane)).toEqual([]);
    lane.finish('a', true);
    expect(lane.isIdle).toBe(true);
  });

  it('goes one at a time after four failures in a row, and wide again after a success', () => {
    const lane = laneOf('a', 'b', 'c', 'd', 'e', 'f');
    for (const id of takeAll(lane)) lane.finish(id, false);
    expect(takeAll(lane)).toEqual(['e']);
    lane.finish('e', true);
    lane.add('g');
    expect(takeAll(lane)).toEqual(['f', 'g']);
  });
});
