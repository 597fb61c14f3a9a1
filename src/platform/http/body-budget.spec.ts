import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { BodyBudget } from './body-budget.js';

const responseOf = (): ServerResponse => new EventEmitter() as unknown as ServerResponse;

describe(BodyBudget.name, () => {
  it('gives a tenant half of the budget, and all tenants together the whole', () => {
    const budget = new BodyBudget(100);
    const [one, two, three] = ['a', 'b', 'c'].map((id) => budget.shareOf(id).lease(responseOf()));
    one!.add(50);
    expect(() => one!.add(1)).toThrow(
      expect.objectContaining({ status: 503, param: 'body', retryAfterSeconds: 2 }),
    );
    two!.add(50);
    expect(() => three!.add(1)).toThrow(expect.objectContaining({ status: 503 }));
    two!.add(-1);
    expect(() => three!.add(1)).not.toThrow();
    expect(budget.used).toBe(100);
  });

  it('releases the bytes of a response when it ends, and only once', () => {
    const budget = new BodyBudget(100);
    const response = responseOf();
    const lease = budget.shareOf('a').lease(response);
    lease.add(30);
    budget.shareOf('a').lease(responseOf()).add(10);
    lease.release();
    response.emit('close');
    lease.release();
    expect(budget.used).toBe(10);
    // Too late to be released.
    lease.add(20);
    expect(budget.used).toBe(10);
  });

  it('counts nothing for a response that has already ended', () => {
    const budget = new BodyBudget(100);
    const lease = budget.shareOf('a').lease({ destroyed: true } as ServerResponse);
    lease.add(20);
    expect(budget.used).toBe(0);
    expect(budget.shareOf('a').isIdle).toBe(true);
  });

  it('counts nothing for refused bytes', () => {
    const budget = new BodyBudget(100);
    const lease = budget.shareOf('a').lease(responseOf());
    expect(() => lease.add(51)).toThrow();
    expect(budget.used).toBe(0);
    lease.release();
    expect(budget.used).toBe(0);
  });
});
