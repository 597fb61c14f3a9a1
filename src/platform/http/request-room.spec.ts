import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { BodyBudget, type BudgetedRequest } from './body-budget.js';
import { RequestRoom } from './request-room.js';

function roomIn(budget: BodyBudget) {
  const res = new EventEmitter();
  const bodyShare = budget.shareOf('tenant');
  return { res, room: new RequestRoom({ res, bodyShare } as unknown as BudgetedRequest) };
}

describe(RequestRoom.name, () => {
  it('counts among the bodies until the response has ended', () => {
    const budget = new BodyBudget(100);
    const { res, room } = roomIn(budget);
    room.take(20);
    expect(budget.used).toBe(40);
    expect(() => room.take(20)).toThrow(expect.objectContaining({ status: 503, param: 'body' }));
    res.emit('close');
    expect(budget.used).toBe(0);
  });

  it('has only what is large wait for its turn', async () => {
    const { room } = roomIn(new BodyBudget(100));
    const waited: string[] = [];
    const large = room.turn(20_000_000).then(() => waited.push('large'));
    await room.turn(1_000).then(() => waited.push('little'));
    await large;
    expect(waited).toEqual(['little', 'large']);
  });

  it('counts nothing where nobody has a share', async () => {
    const room = new RequestRoom({} as BudgetedRequest);
    expect(() => room.take(1_000_000_000)).not.toThrow();
    await room.turn(1_000_000_000);
  });
});
