import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IdleMemory } from './idle-memory.js';

describe(IdleMemory.name, () => {
  const server = new EventEmitter();
  const collect = jest.fn();
  let memory: IdleMemory;

  /** So many requests, which are answered at once unless they stay open. */
  const serve = (count: number, { stay = false } = {}): EventEmitter[] => {
    const responses = Array.from({ length: count }, () => new EventEmitter());
    for (const response of responses) {
      server.emit('request', {}, response);
      if (!stay) response.emit('close');
    }
    return responses;
  };
  const pass = (seconds: number): unknown => jest.advanceTimersByTime(seconds * 1_000);

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    collect.mockClear();
    memory = new IdleMemory(server as unknown as Server, collect);
  });

  afterEach(() => {
    memory.stop();
    server.removeAllListeners();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('collects once when a load is over', () => {
    serve(1_000);
    pass(5);
    expect(collect).not.toHaveBeenCalled();
    pass(5);
    expect(collect).toHaveBeenCalledTimes(1);
    pass(60);
    expect(collect).toHaveBeenCalledTimes(1);
    serve(1_000);
    pass(10);
    expect(collect).toHaveBeenCalledTimes(2);
  });

  it('collects once what the start left, as soon as nobody is being answered', () => {
    memory.collectAfterStart();
    const [open] = serve(1, { stay: true });
    pass(4);
    expect(collect).not.toHaveBeenCalled();
    open!.emit('close');
    pass(2);
    expect(collect).toHaveBeenCalledTimes(1);
    pass(60);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('collects what the start left after a second in which nothing came', () => {
    memory.collectAfterStart();
    pass(1);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('takes a probe now and then for quiet', () => {
    serve(1_000);
    pass(5);
    serve(5);
    pass(5);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('leaves a process alone that answers, or has done little', () => {
    serve(499);
    pass(20);
    expect(collect).not.toHaveBeenCalled();
    const [running] = serve(1_000, { stay: true }).map((response, index) => {
      if (index > 0) response.emit('close');
      return response;
    });
    pass(20);
    expect(collect).not.toHaveBeenCalled();
    running?.emit('close');
    pass(5);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('collects what nobody holds any more', async () => {
    memory.stop();
    memory = new IdleMemory(server as unknown as Server);
    const garbage = makeGarbage();
    serve(1_000);
    // What was looked at lives on until the turn is over.
    await nextTurn();
    expect(garbage.deref()).toBeDefined();
    await nextTurn();
    pass(10);
    await nextTurn();
    expect(garbage.deref()).toBeUndefined();
  });
});

/** In a function of its own, so that nothing on the stack holds it. */
function makeGarbage(): WeakRef<object> {
  return new WeakRef({ kept: 'by nobody' });
}
