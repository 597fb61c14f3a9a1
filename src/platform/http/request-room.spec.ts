import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { BodyBudget, type BudgetedRequest } from './body-budget.js';
import { RequestRoom } from './request-room.js';

function roomIn(budget: BodyBudget, tenant = 'tenant') {
  const res = new EventEmitter();
  const bodyShare = budget.shareOf(tenant);
  return { res, room: new RequestRoom({ res, bodyShare } as unknown as BudgetedRequest) };
}

describe(RequestRoom.name, () => {
  it('counts with the bodies until the response has ended', () => {
    const budget = new BodyBudget(100);
    const { res, room } = roomIn(budget);
    room.take(20);
    expect(budget.used).toBe(40);
    expect(() => room.take(20)).toThrow(expect.objectContaining({ status: 503, param: 'body' }));
    res.emit('close');
    expect(budget.used).toBe(0);
  });

  it('loads large items in turns, tenant by tenant, and small ones at once', async () => {
    const budget = new BodyBudget(100);
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const load = (tenant: string, bytes: number): Promise<void> =>
      roomIn(budget, tenant).room.inTurn(bytes, async () => {
        order.push(tenant);
        if (bytes > 1_000) await new Promise<void>((resolve) => ends.push(resolve));
      });
    const loads = [1, 2, 3, 4, 5].map(() => load('many', 20_000_000));
    loads.push(load('other', 20_000_000));
    await load('little', 1_000);
    expect(order).toEqual(['many', 'many', 'little']);
    while (ends.length > 0) {
      ends.shift()!();
      await new Promise(setImmediate);
    }
    await Promise.all(loads);
    expect(order.slice(3)).toEqual(['many', 'other', 'many', 'many']);
  });

  it('continues after a failure, and loads nothing for disconnected callers', async () => {
    const budget = new BodyBudget(100);
    const { res, room } = roomIn(budget);
    const fails = () => Promise.reject(new Error('gone'));
    const failures = [1, 2, 3].map(() => room.inTurn(1_000_000, fails));
    Object.assign(res, { destroyed: true });
    failures.push(room.inTurn(1_000_000, () => Promise.reject(new Error('loaded'))));
    const reasons = failures.map((failure) => failure.catch((error: Error) => error.message));
    expect(await Promise.all(reasons)).toEqual([
      ...['gone', 'gone', 'The caller disconnected.', 'The caller disconnected.'],
    ]);
    expect(await roomIn(budget).room.inTurn(1_000_000, () => Promise.resolve(1))).toBe(1);
  });

  it('counts nothing without a share', async () => {
    const room = new RequestRoom({} as BudgetedRequest);
    expect(() => room.take(1_000_000_000)).not.toThrow();
    expect(await room.inTurn(1_000_000_000, () => Promise.resolve(1))).toBe(1);
  });
});
