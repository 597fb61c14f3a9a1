import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request as httpRequest, type Server } from 'node:http';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import type { AnswerParts } from '../support/error-answers.js';
import { CHAT } from '../support/paths.js';
import { RawConnection, requestHead, type RawAnswer } from '../support/raw-connection.js';
import { Refusals, refusalSettings, USER } from '../support/refusals.js';

describe('a bad sender', () => {
  let gateway: BootedGateway;
  let refusals: Refusals;

  beforeAll(async () => {
    gateway = await bootGateway(refusalSettings);
    refusals = new Refusals(gateway);
  });
  afterAll(async () => {
    await gateway.close();
  });

  describe('a body over 20 MB', () => {
    const limit = 20_000_000;
    const padded = (bytes: number): Buffer => {
      const body = Buffer.alloc(bytes, ' ');
      body.write(JSON.stringify({ model: 'sandbox/echo', messages: [USER] }));
      return body;
    };
    const headers = (): Record<string, string> => ({
      authorization: `Bearer ${gateway.apiKey}`,
      'content-type': 'application/json',
    });
    const send = (body: Buffer, length: Record<string, string>): Promise<AnswerParts> =>
      new Promise((resolve, reject) => {
        const options = { method: 'POST', headers: { ...headers(), ...length } };
        const request = httpRequest(gateway.url + CHAT, options, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject).on('end', () =>
            resolve({
              status: response.statusCode!,
              header: (name) => response.headers[name] as string | undefined,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        });
        request.on('error', reject).end(body);
      });

    it('is a 413 that its sender can read, with and without a length', async () => {
      const body = padded(limit + 1_000_000);
      const known = await refusals.amidGood(() =>
        send(body, { 'content-length': String(body.length) }),
      );
      refusals.expectRefusal(known, 413, 'body');
      const chunked = await refusals.amidGood(() => send(body, { 'transfer-encoding': 'chunked' }));
      refusals.expectRefusal(chunked, 413, 'body');
    });

    it('is a 413 also for a sender that reads only after the last byte', async () => {
      const body = padded(limit + 1_000_000);
      const connection = await RawConnection.open(gateway.url);
      connection.socket.pause();
      const length = { 'content-length': body.length };
      connection.send(requestHead(`POST ${CHAT} HTTP/1.1`, { ...headers(), ...length }));
      connection.send(body);
      await new Promise((resolve) => connection.socket.once('drain', resolve));
      connection.socket.resume();
      refusals.expectRefusal(await connection.answer(), 413, 'body');
      connection.close();
    });

    it('starts with the first excess byte', async () => {
      const fitting = padded(limit);
      const taken = await send(fitting, { 'content-length': String(limit) });
      expect([taken.status, taken.body]).toEqual([200, expect.stringContaining('Hello')]);
      refusals.goodIds.push(taken.header('x-request-id')!);
      const refused = await send(padded(limit + 1), { 'transfer-encoding': 'chunked' });
      refusals.expectRefusal(refused, 413, 'body');
    });
  });

  describe('a sender with time', () => {
    const HEADERS_TIMEOUT_MS = 15_000;
    let server: Server;

    beforeAll(() => {
      server = gateway.gateway.application.getHttpServer() as Server;
      expect(server.headersTimeout).toBe(HEADERS_TIMEOUT_MS);
      server.headersTimeout = 2_000;
    });
    afterAll(() => {
      server.headersTimeout = HEADERS_TIMEOUT_MS;
    });

    /** Sends five bytes a second until the server closes. */
    async function drip(head: string, piece: string): Promise<RawAnswer & { seconds: number }> {
      const startedMs = performance.now();
      const connection = await RawConnection.open(gateway.url);
      connection.send(head);
      const timer = setInterval(() => connection.send(piece), 200);
      try {
        const answer = await connection.answer();
        await connection.closed;
        return { ...answer, seconds: (performance.now() - startedMs) / 1000 };
      } finally {
        clearInterval(timer);
        connection.close();
      }
    }

    it('gets a 408 and is disconnected in time, wherever it drips', async () => {
      const line = `POST ${CHAT} HTTP/1.1`;
      const headers = {
        authorization: `Bearer ${gateway.apiKey}`,
        'content-type': 'application/json',
      };
      const answers = await refusals.amidGood(() =>
        Promise.all([
          drip(requestHead(line, { ...headers, 'content-length': 100 }), ' '),
          drip(requestHead(line, { ...headers, 'transfer-encoding': 'chunked' }), '1\r\n \r\n'),
          drip(requestHead(line, { ...headers, 'content-length': 100 }), ''),
          drip(`${line}\r\nhost: gateway\r\nx-slow: `, 'x'),
          drip('', ''),
        ]),
      );
      for (const [index, answer] of answers.entries()) {
        expect(answer.seconds).toBeLessThan(50);
        refusals.expectRefusal(answer, 408, index < 3 ? 'body' : 'request');
      }
    });
  });

  describe('Expect: 100-continue', () => {
    const body = JSON.stringify({ model: 'sandbox/echo', messages: [USER] });
    async function ask(key: string, fields: Record<string, string | number>): Promise<RawAnswer> {
      connection = await RawConnection.open(gateway.url);
      connection.send(
        requestHead(`POST ${CHAT} HTTP/1.1`, {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': body.length,
          expect: '100-continue',
          ...fields,
        }),
      );
      return connection.answer();
    }
    let connection: RawConnection;

    it('lets a caller with a key upload', async () => {
      expect((await ask(gateway.apiKey, {})).status).toBe(100);
      connection.send(body);
      const answer = await connection.answer();
      expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('Hello')]);
      refusals.goodIds.push(answer.headers['x-request-id']!);
      connection.close();
    });

    it('lets no caller without a key upload', async () => {
      const unknown = await ask('sk-unknown', {});
      refusals.expectRefusal(unknown, 401, 'authorization', 'authentication_error');
      connection.close();
      const large = await ask(gateway.apiKey, { 'content-length': 21_000_000 });
      refusals.expectRefusal(large, 413, 'body');
      connection.close();
      const form = await ask(gateway.apiKey, { 'content-type': 'text/plain' });
      refusals.expectRefusal(form, 415, 'content-type');
      connection.close();
    });

    it('is the only supported expectation', async () => {
      refusals.expectRefusal(await ask(gateway.apiKey, { expect: 'tea' }), 417, 'expect');
      connection.close();
    });
  });

  it('leaves no trace', async () => {
    await refusals.expectNoTrace();
  });
});
