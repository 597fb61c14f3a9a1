import { describe, expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { BodyBudget } from './body-budget.js';

const responseOf = (): ServerResponse => new EventEmitter() as unknown as ServerResponse;

describe(BodyBudget.name, () => {
  it('gives a tenant half of it, and all tenants together all of it', () => {
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

  it('gets back what a response took when that has ended, and only once', () => {
    const budget = new BodyBudget(100);
    const response = responseOf();
    const lease = budget.shareOf('a').lease(response);
    lease.add(30);
    budget.shareOf('a').lease(responseOf()).add(10);
    lease.release();
    response.emit('close');
    lease.release();
    expect(budget.used).toBe(10);
    // Too late: nobody would give it back.
    lease.add(20);
    expect(budget.used).toBe(10);
  });

  it('counts nothing for a response that has ended already', () => {
    const budget = new BodyBudget(100);
    const lease = budget.shareOf('a').lease({ destroyed: true } as ServerResponse);
    lease.add(20);
    expect(budget.used).toBe(0);
    expect(budget.shareOf('a').isIdle).toBe(true);
  });

  it('takes nothing for what was refused', () => {
    const budget = new BodyBudget(100);
    const lease = budget.shareOf('a').lease(responseOf());
    expect(() => lease.add(51)).toThrow();
    expect(budget.used).toBe(0);
    lease.release();
    expect(budget.used).toBe(0);
  });
});
