import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { EventEmitter, once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { connect, Server, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { OverloadedError } from '../errors/gateway-errors.js';
import { LeanExpressAdapter } from './lean-express.adapter.js';

describe(LeanExpressAdapter.name, () => {
  it.each<[[] | [string]]>([[['127.0.0.1']], [[]]])(
    'lets many connections wait to be accepted (at %j)',
    async (host) => {
      const adapter = new LeanExpressAdapter();
      adapter.initHttpServer();
      const listen = jest.spyOn(Server.prototype, 'listen');
      const server = host.length === 0 ? adapter.listen('0') : adapter.listen('0', ...host);
      await once(server, 'listening');
      expect(listen.mock.calls[0]![0]).toMatchObject({ backlog: 4_096 });
      expect((server.address() as AddressInfo).port).toBeGreaterThan(0);
      listen.mockRestore();
      await new Promise((resolve) => server.close(resolve));
    },
  );

  it('makes a request wait for its turn, and refuses it when there is none', async () => {
    const adapter = new LeanExpressAdapter();
    adapter.initHttpServer();
    adapter.get('/', (_request: Request, response: Response) => void response.send('served'));
    const server = adapter.listen('0', '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const turns = new EventEmitter();
    const refusal = new OverloadedError('authorization', 'Too many wait.', 2, 'too_many');
    adapter.turnOf = async ({ url }) => {
      if (url === '/?patient') await once(turns, 'given');
      if (url === '/?unlucky') throw refusal;
    };
    const ask = (query: string) => fetch(`http://127.0.0.1:${port}/?${query}`);
    const patient = ask('patient');
    const refused = await ask('unlucky');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await refused.json()).toMatchObject({ error: { param: 'authorization' } });
    expect(await (await ask('lucky')).text()).toBe('served');
    turns.emit('given');
    expect(await (await patient).text()).toBe('served');
    await new Promise((resolve) => server.close(resolve));
  });

  it('closes the connection of a caller that keeps sending a body after its answer', async () => {
    const adapter = new LeanExpressAdapter();
    adapter.initHttpServer();
    adapter.get('/', (_request: Request, response: Response) => void response.send('served'));
    const server = adapter.listen('0', '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', (data: Buffer) => (answer += data.toString())).on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: gateway\r\nContent-Length: 99999999999\r\n\r\n');
    const writeOn = (): void => void socket.write('x', (error) => error ?? setTimeout(writeOn, 5));
    writeOn();
    // The connection may end with a reset, for which `once` would reject.
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toContain('served');
    await new Promise((resolve) => server.close(resolve));
  });

  describe('with pipelined requests', () => {
    const ROW = 17;
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: gateway\r\n\r\n`;
    let adapter: LeanExpressAdapter;
    let server: Server;
    let served: string[];
    let refused: unknown[];

    beforeEach(async () => {
      adapter = new LeanExpressAdapter();
      adapter.initHttpServer();
      served = [];
      refused = [];
      adapter.recordRefusal = ({ error }) => void refused.push(error.param);
      adapter.get('/at-once', ({ url }: Request, response: Response) => {
        served.push(url);
        response.send('served');
      });
      // Never answered.
      adapter.get('/never', ({ url }: Request) => void served.push(url));
      server = adapter.listen('0', '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(async () => {
      await new Promise((resolve) => server.close(resolve));
    });

    const open = async (): Promise<Socket> => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      await once(socket, 'connect');
      return socket.on('error', () => undefined);
    };
    const isOpenAfter = async (socket: Socket): Promise<boolean> => {
      const closed = once(socket, 'close').then(() => false);
      return Promise.race([closed, wait(100).then(() => true)]);
    };

    it.each(['/at-once', '/never'])('serves a few of %s', async (path) => {
      const socket = await open();
      socket.write(get(path).repeat(ROW - 1));
      expect(await isOpenAfter(socket)).toBe(true);
      expect([served.length, refused]).toEqual([ROW - 1, []]);
      socket.destroy();
    });

    it.each(['/at-once', '/never'])(
      'closes the connection during hundreds of %s in one packet',
      async (path) => {
        const socket = await open();
        socket.resume().write(get(path).repeat(600));
        await once(socket, 'close');
        expect(served.length).toBeLessThan(ROW);
        expect(refused).toEqual(['connection']);
      },
    );

    it('closes the connection when ever more requests wait for one answer, however slowly they arrive', async () => {
      const socket = await open();
      for (let request = 0; request < ROW; request++) {
        expect(socket.destroyed).toBe(false);
        socket.write(get('/never'));
        await wait(5);
      }
      expect(await isOpenAfter(socket)).toBe(true);
      socket.write(get('/never'));
      await once(socket, 'close');
      expect(served).toHaveLength(ROW);
    });

    it('serves any number one after the other', async () => {
      const socket = await open();
      for (let request = 0; request < 100; request++) {
        socket.write(get('/at-once'));
        await once(socket, 'data');
      }
      expect([served.length, refused]).toEqual([100, []]);
      socket.destroy();
    });
  });

  describe('given a body in chunks of one byte', () => {
    const HEAD = 'POST / HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: chunked\r\n\r\n';
    const CHUNKS = 30_000;
    let server: HttpServer;
    let onRequest: (request: Request, response: Response) => void;

    beforeEach(async () => {
      const adapter = new LeanExpressAdapter();
      adapter.initHttpServer();
      adapter.post('/', (request: Request, response: Response) => onRequest(request, response));
      server = adapter.listen('0', '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(async () => {
      await new Promise((resolve) => server.close(resolve));
    });

    const send = async (body: string): Promise<string> => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write(HEAD + body);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return answer.toString();
    };
    const chunked = (text: string) =>
      [...text].map((each) => `1\r\n${each}\r\n`).join('') + '0\r\n\r\n';

    it('delivers the whole body in a few pieces', async () => {
      const text = 'abcdefghij'.repeat(CHUNKS / 10);
      const pieces: Buffer[] = [];
      onRequest = (request, response) => {
        request.on('data', (piece: Buffer) => void pieces.push(piece));
        request.once('end', () => void response.send('served'));
      };
      expect(await send(chunked(text))).toContain('served');
      expect(Buffer.concat(pieces).toString()).toBe(text);
      expect(pieces.length).toBeLessThan(20);
    });

    it('closes connections of an address beyond the thirty-two that wait', async () => {
      onRequest = (request) => void request.resume();
      const { port } = server.address() as AddressInfo;
      let ended = 0;
      const sockets = Array.from({ length: 200 }, () =>
        connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
          .on('error', () => undefined)
          .on('close', () => ended++),
      );
      for (const socket of sockets) socket.write(HEAD + '1\r\nx\r\n'.repeat(1_000));
      while (ended < 5) await wait(5);
      // Paused connections do not notice that their peer has disconnected.
      server.closeAllConnections();
      onRequest = (_request, response) => void response.send('served');
      expect(await send(chunked('hello'))).toContain('served');
    });

    it('delivers small bodies at once, at the pace of the reader', async () => {
      const echo = async (request: Request, response: Response): Promise<void> => {
        let text = '';
        request.pause();
        await wait(20);
        for await (const piece of request) text += String(piece);
        response.send(text);
      };
      onRequest = (request, response) => void echo(request, response);
      expect(await send(chunked('hello'))).toContain('hello');
    });

    it('drains a body that the answer does not need', async () => {
      onRequest = (_request, response) => void response.status(404).send('no');
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write(HEAD + chunked('x'.repeat(CHUNKS)));
      socket.write('POST / HTTP/1.1\r\nHost: gateway\r\nContent-Length: 0\r\n\r\n');
      let answers = '';
      socket.on('data', (data: Buffer) => (answers += data.toString()));
      while (answers.split('HTTP/1.1 404').length < 3) await wait(5);
      socket.destroy();
    });
  });
});
