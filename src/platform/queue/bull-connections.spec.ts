import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { BullConnections } from './bull-connections.js';

const made: Redis[] = [];

/** Emits the events of a connection that connects to Redis or loses it. */
function become(connection: Redis, status: 'ready' | 'reconnecting'): void {
  connection.status = status;
  if (status === 'ready') connection.emit('ready');
  else connection.emit('error', new Error('reset'));
}

describe(BullConnections.name, () => {
  let connections: BullConnections;
  const disconnected: Redis[] = [];
  const named = () => made.map(({ options }) => options.connectionName?.split('-').at(-1));

  beforeEach(() => {
    jest.useFakeTimers();
    for (const level of ['warn', 'log'] as const) {
      jest.spyOn(Logger.prototype, level).mockImplementation(() => undefined);
    }
    made.length = disconnected.length = 0;
    jest.spyOn(Redis.prototype, 'connect').mockImplementation(function (this: Redis) {
      made.push(this);
      return Promise.resolve();
    });
    jest.spyOn(Redis.prototype, 'disconnect').mockImplementation(function (this: Redis) {
      disconnected.push(this);
    });
    connections = new BullConnections('redis://test');
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('shares commands and messages among topics and blocks on separate connections', () => {
    for (const _ of [1, 2]) {
      for (const type of ['client', 'subscriber', 'bclient'] as const) connections.create(type);
    }
    expect(named()).toEqual(['client', 'subscriber', 'bclient', 'bclient']);
  });

  it('waits at most two seconds for Redis and removes its listeners', async () => {
    const listeners = connections.commands.listenerCount('ready');
    const ready = expect(connections.untilReady()).rejects.toThrow('cannot connect');
    await jest.advanceTimersByTimeAsync(2_000);
    await ready;
    expect(made[0]!.listeners('ready')).toHaveLength(listeners);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('shares one wait among all callers', async () => {
    const waiting = [connections.untilReady(), connections.untilReady()];
    expect(waiting[0]).toBe(waiting[1]);
    expect(connections.isDegraded).toBe(true);
    become(made[0]!, 'ready');
    await Promise.all(waiting);
    expect(connections.isDegraded).toBe(false);
    await connections.untilReady();
  });

  it('waits again after a failed wait', async () => {
    const first = expect(connections.untilReady()).rejects.toThrow();
    await jest.advanceTimersByTimeAsync(2_000);
    await first;
    const second = connections.untilReady();
    become(made[0]!, 'ready');
    await expect(second).resolves.toBeUndefined();
  });

  it('logs an outage once and the recovery once', () => {
    const { commands } = connections;
    connections.create('subscriber');
    for (const one of made) become(one, 'reconnecting');
    become(made[0]!, 'reconnecting');
    expect(Logger.prototype.warn).toHaveBeenCalledTimes(1);
    for (const one of made) become(one, 'ready');
    expect(Logger.prototype.log).toHaveBeenCalledTimes(1);
    expect(commands).toBe(made[0]);
  });

  it('interrupts blocking connections only', () => {
    for (const type of ['client', 'subscriber', 'bclient'] as const) connections.create(type);
    connections.interruptBlocking();
    expect(disconnected).toEqual([made[2]]);
  });

  it('backs off up to one second between reconnects and stops when closed', () => {
    connections.create('client');
    const { retryStrategy } = made[0]!.options;
    expect([1, 2, 20, 1_000].map((attempt) => retryStrategy!(attempt))).toEqual([
      50, 100, 1_000, 1_000,
    ]);
    connections.onApplicationShutdown();
    become(made[0]!, 'reconnecting');
    expect(disconnected).toEqual([made[0]]);
    expect(retryStrategy!(1)).toBeNull();
    expect(Logger.prototype.warn).not.toHaveBeenCalled();
  });
});
