import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { CallerGoneError } from '../../platform/http/read-body.js';
import { ContentionWindow } from '../../platform/queue/contention-window.js';
import { FairStarts } from './fair-starts.js';

const openResponse = () => Object.assign(new EventEmitter(), { destroyed: false });

/** Runs on a clock that the test sets. */
function makeStarts() {
  const clock = { nowMs: 1_000 };
  return { clock, starts: new FairStarts(new ContentionWindow(() => clock.nowMs)) };
}

/** Queues calls of a tenant and records the order in which they start. */
function callOf(starts: FairStarts, started: string[]) {
  return (tenantId: string, response = openResponse()): Promise<void> | undefined => {
    const turn = starts.waitForTurn(tenantId, response);
    const note = (): number => started.push(tenantId);
    if (turn) return turn.then(() => void note());
    note();
    return undefined;
  };
}

describe(FairStarts.name, () => {
  it('starts 32 calls per turn for a tenant that calls alone', async () => {
    const started: string[] = [];
    const { clock, starts } = makeStarts();
    const call = callOf(starts, started);
    void call('b');
    void call('a');
    await nextTurn();
    clock.nowMs += 300;
    started.length = 0;
    for (let index = 0; index < 70; index++) void call('a');
    expect(started).toHaveLength(32);
    await nextTurn();
    expect(started).toHaveLength(64);
    await nextTurn();
    expect(started).toHaveLength(70);
  });

  it('starts four calls per turn for a busy tenant while others call', async () => {
    const started: string[] = [];
    const call = callOf(makeStarts().starts, started);
    void call('quiet');
    for (let index = 0; index < 100; index++) void call('busy');
    expect(started).toEqual(['quiet', ...Array.from({ length: 4 }, () => 'busy')]);
    await nextTurn();
    started.length = 0;
    expect(call('quiet')).toBeUndefined();
    expect(started).toEqual(['quiet']);
    await nextTurn();
    expect(started.filter((tenantId) => tenantId === 'busy')).toHaveLength(4);
  });

  it('starts fewer per tenant while turns are long, and recovers when they are short', async () => {
    const started: string[] = [];
    const { clock, starts } = makeStarts();
    const call = callOf(starts, started);
    void call('quiet');
    for (let index = 0; index < 100; index++) void call('busy');
    const counts: number[] = [];
    for (const tookMs of [5, 5, 5, 1, 1, 1, 1]) {
      started.length = 0;
      clock.nowMs += tookMs;
      await nextTurn();
      counts.push(started.length);
    }
    expect(counts).toEqual([2, 1, 1, 2, 3, 4, 4]);
  });

  it('starts every tenant once before any starts again when more wait than fit in a turn', async () => {
    const started: string[] = [];
    const call = callOf(makeStarts().starts, started);
    const tenantIds = Array.from({ length: 40 }, (_, index) => `tenant ${index}`);
    for (const tenantId of tenantIds) {
      void call(tenantId);
      void call(tenantId);
    }
    expect(started).toHaveLength(32);
    await nextTurn();
    // Both calls of the first 16 tenants have started; the other 24 tenants start one each.
    expect(started.slice(32, 56)).toEqual(tenantIds.slice(16));
  });

  it('keeps the order of a tenant’s own calls', async () => {
    const order: number[] = [];
    const { starts } = makeStarts();
    void starts.waitForTurn('other', openResponse());
    const turns = Array.from({ length: 12 }, async (_, index) => {
      await starts.waitForTurn('a', openResponse());
      order.push(index);
    });
    await Promise.all(turns);
    expect(order).toEqual(Array.from({ length: 12 }, (_, index) => index));
  });

  it('removes a caller that disconnects while waiting', async () => {
    const { starts } = makeStarts();
    const call = callOf(starts, []);
    void call('other');
    for (let index = 0; index < 4; index++) void call('a');
    const disconnected = openResponse();
    const waiting = starts.waitForTurn('a', disconnected);
    disconnected.emit('close');
    await expect(waiting).rejects.toThrow(CallerGoneError);
    const next = starts.waitForTurn('a', openResponse());
    expect(next).toBeInstanceOf(Promise);
    await next;
    expect(disconnected.listenerCount('close')).toBe(0);
  });

  it('rejects a caller that has already disconnected', async () => {
    const { starts } = makeStarts();
    const call = callOf(starts, []);
    void call('other');
    for (let index = 0; index < 4; index++) void call('a');
    const gone = Object.assign(openResponse(), { destroyed: true });
    await expect(starts.waitForTurn('a', gone)).rejects.toThrow(CallerGoneError);
  });
});
