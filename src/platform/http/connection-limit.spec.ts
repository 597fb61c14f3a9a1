import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { limitConnections } from './connection-limit.js';

const OPEN_FILES = 40;
const CROWD = 30;
const MOST = 34;

describe(limitConnections.name, () => {
  let server: Server;
  let sockets: Socket[];
  const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);

  beforeEach(async () => {
    sockets = [];
    warn.mockClear();
    // Serves connections that it greets.
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      setImmediate(() => !socket.destroyed && socket.write('welcome'));
    });
    limitConnections(server, OPEN_FILES);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** Returns whether a new connection is served. */
  async function open(localAddress = '127.0.0.1'): Promise<boolean> {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    sockets.push(socket);
    const isServed = await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ]);
    return isServed;
  }

  async function openMany(count: number, localAddress?: string): Promise<number> {
    const served = await Promise.all(Array.from({ length: count }, () => open(localAddress)));
    return served.filter(Boolean).length;
  }

  it('counts a connection once, however often it is passed on', async () => {
    server.once('connection', (socket: Socket) => {
      socket.setMaxListeners(0);
      for (let times = 0; times < 2 * CROWD; times++) server.emit('connection', socket);
    });
    expect(await openMany(CROWD)).toBe(CROWD);
  });

  it('makes one address leave room for others, and logs that once', async () => {
    expect(await openMany(CROWD + 10)).toBe(CROWD);
    expect(await open('127.0.0.2')).toBe(true);
    expect(await open()).toBe(false);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]![0]).toMatch(
      /1 connections were refused, the last from 127\.0\.0\.1/,
    );
  });

  it('accepts the address again after some of its connections have ended', async () => {
    await openMany(CROWD);
    expect(await open()).toBe(false);
    sockets[0]!.destroy();
    await wait(20);
    expect(await open()).toBe(true);
  });

  it('reserves descriptors for the process itself, however many addresses connect', async () => {
    await openMany(15, '127.0.0.1');
    await openMany(15, '127.0.0.2');
    expect(await openMany(10, '127.0.0.3')).toBe(MOST - CROWD);
  });

  it('accepts all connections while there is room', async () => {
    expect(await openMany(CROWD)).toBe(CROWD);
    expect(warn).not.toHaveBeenCalled();
  });
});
