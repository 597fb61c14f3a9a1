import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { IdleMemory } from './idle-memory.js';

describe(IdleMemory.name, () => {
  const server = new EventEmitter();
  const collect = jest.fn();
  let memory: IdleMemory;

  /** Sends requests that are answered at once unless they stay open. */
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

  it('collects once after a load', () => {
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

  it('collects garbage of the start once no request is open', () => {
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

  it('collects garbage of the start after a quiet second', () => {
    memory.collectAfterStart();
    pass(1);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('treats occasional probes as quiet', () => {
    serve(1_000);
    pass(5);
    serve(5);
    pass(5);
    expect(collect).toHaveBeenCalledTimes(1);
  });

  it('does not collect while requests are open or after few requests', () => {
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

  it('collects unreachable objects', async () => {
    memory.stop();
    memory = new IdleMemory(server as unknown as Server);
    const garbage = makeGarbage();
    serve(1_000);
    // A dereferenced WeakRef keeps its target alive until the end of the job.
    await nextTurn();
    expect(garbage.deref()).toBeDefined();
    await nextTurn();
    pass(10);
    await nextTurn();
    expect(garbage.deref()).toBeUndefined();
  });
});

/** A separate function, so that no stack slot holds the object. */
function makeGarbage(): WeakRef<object> {
  return new WeakRef({ kept: 'by no one' });
}
