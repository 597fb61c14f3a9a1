import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  OutboundClient,
  type OutboundClientOptions,
} from '../../src/platform/outbound/outbound-client.js';
import { until } from '../support/until.js';
import { within } from '../support/within.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function makeClient(options: OutboundClientOptions = { allowPrivate: true }): OutboundClient {
  const client = new OutboundClient(options);
  closing.push(() => client.onApplicationShutdown());
  return client;
}

/** Starts a receiver on loopback and returns its port. */
async function receive(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<number> {
  const server: Server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const post = (client: OutboundClient, port: number, more: object = {}) =>
  client.post({ url: `http://127.0.0.1:${port}/hook?a=b`, headers: {}, body: '{}', ...more });

describe(OutboundClient.name, () => {
  it('posts the body with the headers', async () => {
    const seen: unknown[] = [];
    const port = await receive((request, response) => {
      request.setEncoding('utf8').on('data', (body) => {
        const { method, url, headers } = request;
        seen.push(method, url, headers['x-token'], headers['content-length'], body);
        response.writeHead(204).end();
      });
    });
    const outcome = await post(makeClient(), port, {
      headers: { 'X-Token': 'é' },
      body: '{"é":1}',
    });
    expect(outcome).toEqual({ ok: true, status: 204 });
    expect(seen).toEqual(['POST', '/hook?a=b', 'é', '8', '{"é":1}']);
  });

  it.each([
    [301, false],
    [307, false],
    [400, true],
    [404, true],
    [410, false],
    [429, true],
    [500, true],
    [503, true],
  ])('fails on %i; retryable: %s', async (status, retryable) => {
    let calls = 0;
    const port = await receive((_request, response) => {
      calls++;
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    expect(await post(makeClient(), port)).toMatchObject({ ok: false, status, retryable });
    expect(calls).toBe(1);
  });

  it('gives up on a receiver that hangs, drips its head, or never ends its answer', async () => {
    const hang = await receive(() => undefined);
    const drip = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .resume()
        .write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-a: b\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    }).listen(0, '127.0.0.1');
    await once(drip, 'listening');
    closing.push(() => drip.close());
    const client = makeClient();
    for (const port of [hang, (drip.address() as AddressInfo).port]) {
      expect(await within(30_000, post(client, port, { timeoutMs: 300 }))).toEqual({
        ok: false,
        reason: 'did not answer within 0.3 seconds',
        retryable: true,
        status: undefined,
      });
    }
  });

  it('accepts a status whose answer never ends, and disconnects', async () => {
    let broken = false;
    const port = await receive((_request, response) => {
      response.writeHead(200).write('x');
      const timer = setInterval(() => response.write('x'.repeat(1_000)), 20);
      response.on('close', () => {
        broken = true;
        clearInterval(timer);
      });
    });
    expect(await within(30_000, post(makeClient(), port))).toEqual({ ok: true, status: 200 });
    await until(() => broken);
  });

  it('reads no more of an answer than necessary', async () => {
    let sent = 0;
    const port = await receive((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      const write = (): void => {
        while (!response.destroyed && sent < 1e9) {
          sent += chunk.length;
          if (!response.write(chunk)) break;
        }
      };
      response.writeHead(200).on('drain', write);
      write();
    });
    expect(await post(makeClient(), port)).toEqual({ ok: true, status: 200 });
    expect(sent).toBeLessThan(50e6);
  });

  it.each(['', '127.0.0.1', '*'])('ignores proxies with NO_PROXY=%j', async (noProxy) => {
    let proxied = 0;
    const proxy = await receive((_request, response) => {
      proxied += 1;
      response.end();
    });
    const port = await receive((_request, response) => response.writeHead(204).end());
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy'];
    const before = { ...process.env };
    for (const name of names) process.env[name] = `http://user:secret@127.0.0.1:${proxy}`;
    Object.assign(process.env, { NO_PROXY: noProxy, NODE_USE_ENV_PROXY: '1' });
    closing.push(() => {
      for (const name of [...names, 'NO_PROXY', 'NODE_USE_ENV_PROXY']) delete process.env[name];
      Object.assign(process.env, before);
    });
    expect(await post(makeClient(), port)).toEqual({ ok: true, status: 204 });
    // A proxy does not override the address rule.
    const strict = makeClient({ allowPrivate: false });
    expect(await post(strict, port)).toMatchObject({ ok: false });
    expect(proxied).toBe(0);
  });

  it('reports interrupted and refused connections, and throws nothing', async () => {
    const reset = await receive((request) => request.socket.resetAndDestroy());
    // An unread socket never ends and would keep the process alive.
    const garbage = createTcpServer((socket) => socket.resume().end('what?')).listen(
      0,
      '127.0.0.1',
    );
    await once(garbage, 'listening');
    closing.push(() => garbage.close());
    const client = makeClient();
    for (const port of [reset, (garbage.address() as AddressInfo).port]) {
      expect(await post(client, port)).toMatchObject({
        ok: false,
        reason: 'closed the connection',
        retryable: true,
      });
    }
    expect(await post(client, 9)).toMatchObject({ ok: false, retryable: true });
  });

  it.each([
    ['http://127.0.0.1/', {}],
    ['ftp://public.example/', {}],
    ['http://a:b@public.example/', {}],
    ['nonsense', {}],
    ['http://public.example/', { 'X-A': 'a\r\nX-B: c' }],
    ['http://public.example/', { Host: 'other' }],
  ])('rejects %s with %j without a connection', async (url, headers) => {
    const resolveName = (): never => {
      throw new Error('looked up');
    };
    const client = makeClient({ allowPrivate: false, resolveName });
    expect(await client.post({ url, headers: { ...headers }, body: '' })).toMatchObject({
      ok: false,
      retryable: false,
      status: undefined,
    });
  });

  it('does not connect to a name that is public when configured and private later', async () => {
    let calls = 0;
    const port = await receive((_request, response) => {
      calls++;
      response.end();
    });
    let address = '93.184.215.14';
    const client = makeClient({
      allowPrivate: false,
      resolveName: (_hostname, _options, callback) => callback(null, [{ address, family: 4 }]),
    });
    const url = `http://rebinding.example:${port}/`;
    await client.assertDestinationUrl(url, 'webhook_url');
    address = '127.0.0.1';
    expect(await client.post({ url, headers: {}, body: '' })).toEqual({
      ok: false,
      reason: 'does not lead to a public address',
      retryable: false,
      status: undefined,
    });
    expect(calls).toBe(0);
    // The server was reachable.
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
});
