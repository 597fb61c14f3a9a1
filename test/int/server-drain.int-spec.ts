import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ServerDrain } from '../../src/platform/http/server-drain.js';
import { until } from '../support/until.js';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** Beyond any test's duration, so that only the tests about the limit reach it. */
const LIMIT_MS = 600_000;

/** A caller's view of one connection. */
class Connection {
  received = '';
  /** `end` for a proper close, or the error's code. */
  readonly over: Promise<string>;

  private constructor(private readonly socket: Socket) {
    socket.on('data', (data: Buffer) => (this.received += data.toString()));
    this.over = new Promise((resolve) => {
      socket.once('end', () => resolve('end'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    });
  }

  static async open(server: Server): Promise<Connection> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    return new Connection(socket);
  }

  ask(): void {
    this.socket.write(GET);
  }

  async hasReceived(text: string): Promise<void> {
    await until(() => this.received.includes(text));
  }
}

describe(ServerDrain.name, () => {
  let server: Server;
  let drain: ServerDrain;
  /** Responses that the test has yet to answer. */
  let open: ServerResponse[];

  beforeEach(async () => {
    open = [];
    server = createServer((_request, response) => void open.push(response));
    drain = new ServerDrain(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => void server.closeAllConnections());

  const nextResponse = async (): Promise<ServerResponse> => {
    await until(() => open.length > 0);
    return open.shift()!;
  };
  const answered = async (connection: Connection): Promise<void> => {
    connection.ask();
    (await nextResponse()).end('done');
    await connection.hasReceived('done');
  };

  it('sends Connection: close with answers that have not started', async () => {
    const connection = await Connection.open(server);
    connection.ask();
    const response = await nextResponse();
    const drained = drain.drain(LIMIT_MS);
    response.end('late');
    expect(await connection.over).toBe('end');
    expect(connection.received).toMatch(/^HTTP\/1\.1 200 .*connection: close.*late$/is);
    await drained;
  });

  it('keeps serving before it drains, one more answer per connection', async () => {
    const early = await Connection.open(server);
    await answered(early);
    drain.announce();
    for (const connection of [early, await Connection.open(server)]) {
      connection.received = '';
      await answered(connection);
      expect(await connection.over).toBe('end');
      expect(connection.received).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
    }
    await drain.drain(LIMIT_MS);
  });

  it('lets a started answer end, and then closes its connection', async () => {
    const connection = await Connection.open(server);
    connection.ask();
    const response = await nextResponse();
    response.write('first');
    await connection.hasReceived('first');
    const drained = drain.drain(LIMIT_MS);
    await wait(400);
    response.end('last');
    expect(await connection.over).toBe('end');
    expect(connection.received).toContain('last');
    await drained;
  });

  it('answers a request that was on its way over an idle connection', async () => {
    const used = await Connection.open(server);
    await answered(used);
    const unused = await Connection.open(server);
    // The grace of idle connections does not end until both requests have arrived.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const drained = drain.drain(LIMIT_MS);
    await wait(30);
    for (const connection of [used, unused]) {
      connection.received = '';
      connection.ask();
    }
    await until(() => open.length === 2);
    clock.mockRestore();
    for (const connection of [used, unused]) {
      (await nextResponse()).end('in time');
      expect(await connection.over).toBe('end');
      expect(connection.received).toMatch(/connection: close.*in time/is);
    }
    await drained;
  });

  it('closes idle connections without a reset', async () => {
    const used = await Connection.open(server);
    await answered(used);
    const unused = await Connection.open(server);
    await drain.drain(LIMIT_MS);
    expect(await Promise.all([used.over, unused.over])).toEqual(['end', 'end']);
  });

  it('cuts running answers at the limit', async () => {
    const connection = await Connection.open(server);
    connection.ask();
    await nextResponse();
    await drain.drain(300);
    expect(await connection.over).toMatch(/^(?:end|ECONNRESET)$/);
    expect(connection.received).toBe('');
  });
});
