import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { until } from '../../../test/support/until.js';
import { CallerGoneError } from './read-body.js';
import { cutStalledEnds, drained } from './drained.js';

const TIMEOUT_MS = 400;
/** More than the kernel buffers on both sides. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 'x');

// A pause of the machine at the wrong time makes a reader late.
jest.retryTimes(2);

describe('slow readers', () => {
  const opened: (Server | Socket)[] = [];

  afterEach(() => {
    for (const each of opened.splice(0)) {
      if ('closeAllConnections' in each) each.close().closeAllConnections();
      else each.destroy();
    }
  });

  async function serve(answer: RequestListener, cutsEnds = false): Promise<Socket> {
    const server = createServer(answer);
    if (cutsEnds) cutStalledEnds(server, TIMEOUT_MS);
    opened.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    opened.push(client);
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    return client;
  }

  it('closes the connection of a reader that takes nothing while more is pending', async () => {
    const outcome = new Promise((resolve) => {
      void serve((_request, response) => {
        response.write(LARGE);
        drained(response, TIMEOUT_MS).then(resolve, resolve);
      });
    });
    expect(await outcome).toBeInstanceOf(CallerGoneError);
  });

  it('waits for a reader that takes a piece now and then', async () => {
    let outcome: Promise<unknown> | undefined;
    const client = await serve((_request, response) => {
      response.write(LARGE);
      outcome = drained(response, TIMEOUT_MS).catch((error: unknown) => error);
    });
    await readSlowly(client, LARGE.length);
    expect(await outcome).toBeUndefined();
  });

  it('closes the connection of a reader that does not finish a response', async () => {
    let cut: Promise<unknown> | undefined;
    const client = await serve((_request, response) => {
      cut = once(response, 'close');
      response.end(LARGE);
    }, true);
    await until(() => cut !== undefined);
    await cut;
    client.resume();
    await once(client, 'close');
    expect(client.bytesRead).toBeLessThan(LARGE.length);
  });

  it('lets a slow reader finish and then serves the connection again', async () => {
    const client = await serve((_request, response) => response.end(LARGE), true);
    await readSlowly(client, LARGE.length);
    await pause(1.5 * TIMEOUT_MS);
    expect(client.destroyed).toBe(false);
    const before = client.bytesRead;
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    while (client.bytesRead === before) await pause(5);
  });

  it('gives a pipelined answer its full time after the one before', async () => {
    let answers = 0;
    const client = await serve((_request, response) => {
      if (++answers === 1) return response.end(LARGE);
      setTimeout(() => response.end('late'), 1.5 * TIMEOUT_MS);
    }, true);
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    let last = '';
    client.on('data', (bytes: Buffer) => (last = bytes.toString('latin1').slice(-10)));
    client.resume();
    await until(() => last.endsWith('late') || client.destroyed);
    expect(last).toMatch(/late$/);
  });
});

/** Reads in pieces, each later than one check but within the timeout. */
async function readSlowly(client: Socket, length: number): Promise<void> {
  let received = 0;
  client.on('data', (bytes: Buffer) => (received += bytes.length));
  while (received < length && !client.destroyed) {
    client.pause();
    await pause(TIMEOUT_MS / 2);
    client.resume();
    const goal = Math.min(received + length / 8, length);
    while (received < goal && !client.destroyed) await pause(1);
  }
}
