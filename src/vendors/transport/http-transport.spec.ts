import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LONG_LIMITS } from '../../../test/support/fake-connection.js';
import { until } from '../../../test/support/until.js';
import { Canceller } from '../../canonical/cancel-signal.js';
import { HttpTransport } from './http-transport.js';
import type { UpstreamResponse } from './upstream-response.js';

const RUSH = 300;
const A_FEW_DOZEN = 40;
const SOON_MS = 5_000;

describe(HttpTransport.name, () => {
  const sockets = new Set<Socket>();
  /** Responses that are currently streaming. */
  let streams: http.ServerResponse[];
  let connected: number;
  let server: http.Server;
  let transport: HttpTransport;

  beforeEach(async () => {
    streams = [];
    connected = 0;
    server = http.createServer((request, response) => {
      request.resume();
      response.write('begun');
      if (request.url === '/stream') streams.push(response);
      else response.end();
    });
    // Lets the client decide how long a connection stays open, as vendors' servers may.
    server.keepAliveTimeout = 0;
    server.on('connection', (socket) => {
      connected++;
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1', 1_024);
    await once(server, 'listening');
    transport = new HttpTransport(5_000);
  });
  afterEach(async () => {
    await transport.onApplicationShutdown();
    server.closeAllConnections();
    server.close();
  });

  function call(path: string, signal = new Canceller()): Promise<UpstreamResponse> {
    const { port } = server.address() as AddressInfo;
    const url = new URL(`http://127.0.0.1:${port}${path}`);
    return transport.call({ method: 'POST', url, headers: {}, limits: LONG_LIMITS, signal });
  }

  it('keeps a few dozen connections after a burst of completed and abandoned streams', async () => {
    const leaving = new Canceller();
    const responses = await Promise.all(
      Array.from({ length: RUSH }, (_, at) =>
        call('/stream', at % 3 === 0 ? leaving : new Canceller()),
      ),
    );
    expect(sockets.size).toBe(RUSH);
    leaving.abort();
    const rest = responses.filter(({ isOver }) => !isOver);
    expect(rest).toHaveLength((RUSH * 2) / 3);
    rest.forEach((response, at) => {
      if (at % 2 === 0) response.drain();
    });
    for (const stream of streams) stream.end();
    await Promise.all(
      rest.filter((_, at) => at % 2 === 1).map((response) => response.readAll(1_000)),
    );
    const endedAtMs = performance.now();
    await until(() => sockets.size <= A_FEW_DOZEN);
    expect(performance.now() - endedAtMs).toBeLessThan(SOON_MS);
    // The remaining ones are reused.
    const before = connected;
    expect(sockets.size).toBeGreaterThan(0);
    await (await call('/whole')).readAll(1_000);
    expect(connected).toBe(before);
  });

  it('reuses connections however many calls are running', async () => {
    for (let round = 0; round < 3; round++) {
      const responses = await Promise.all(Array.from({ length: 60 }, () => call('/whole')));
      await Promise.all(responses.map((response) => response.readAll(1_000)));
      // A connection is free one tick after its answer's end.
      await nextTurn();
    }
    expect(connected).toBe(60);
  });
});
