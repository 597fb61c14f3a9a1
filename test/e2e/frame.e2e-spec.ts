import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { expectError, partsOf, requestIdOf, type AnswerParts } from '../support/error-answers.js';
import { CHAT } from '../support/paths.js';
import { RawConnection, requestHead } from '../support/raw-connection.js';
import { awaitRoomInThisMinute, keyWithLimit } from '../support/room-in-minute.js';
import { within } from '../support/within.js';

const USER = { role: 'user', content: 'Hello' };
const FAULT = 'sandbox/fault-500';

const INVALID = 'invalid_request_error';
const AUTHENTICATION = 'authentication_error';
const NOT_FOUND = 'not_found_error';

const TAGS = { 'if-none-match': '*' };
const TWO_LENGTHS = { 'content-length': 5, 'Content-Length': 6 };
const WEBSOCKET = { connection: 'upgrade', upgrade: 'websocket' };

describe('the frame of every answer', () => {
  let gateway: BootedGateway;
  const seenIds = new Set<string>();

  beforeAll(async () => {
    gateway = await bootGateway();
  });
  afterAll(async () => {
    await gateway.close();
  });

  const chat = (fields: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    gateway.post(CHAT, { model: 'sandbox/echo', messages: [USER], ...fields }, headers);

  /** Returns the answer to these bytes over a bare connection. */
  async function raw(bytes: string): Promise<AnswerParts> {
    const connection = await RawConnection.open(gateway.url);
    connection.send(bytes);
    try {
      const { status, headers, body } = await connection.answer();
      return { status, header: (name) => headers[name], body };
    } finally {
      connection.close();
    }
  }

  /** Checks the answer's ids, which must be unique. */
  function expectNewId(answer: AnswerParts): void {
    const id = requestIdOf(answer);
    expect(seenIds).not.toContain(id);
    seenIds.add(id);
    expect(answer.header('x-content-type-options')).toBe('nosniff');
  }

  async function exhaustedKey(): Promise<Record<string, string>> {
    const headers = await keyWithLimit(gateway, 1);
    await awaitRoomInThisMinute();
    await (await chat({}, headers)).text();
    return headers;
  }

  describe('the request id', () => {
    it.each<[number, string, () => Promise<Response>]>([
      [200, 'a completion', () => chat()],
      [200, 'a stream', () => chat({ stream: true })],
      [200, 'an interrupted stream', () => chat({ model: 'sandbox/fault-cut', stream: true })],
      [200, 'a list', () => gateway.fetch('/v1/models')],
      [200, 'the head of a list', () => gateway.fetch('/v1/models', { method: 'HEAD' })],
      [200, 'an unchanged list', () => gateway.fetch('/v1/models', { headers: TAGS })],
      [200, 'a health check', () => fetch(`${gateway.url}/healthz`)],
      [200, 'a page of the docs', () => fetch(`${gateway.url}/docs`)],
      [200, 'a file of the docs', () => fetch(`${gateway.url}/docs/swagger-ui.css`)],
      [201, 'a new key', () => gateway.post('/v1/customer/api-keys', { name: 'n' })],
    ])('is on %i %s', async (status, _name, send) => {
      const answer = await partsOf(await send());
      expect(answer.status).toBe(status);
      expectNewId(answer);
    });

    const management = (): Record<string, string> => ({
      authorization: `Bearer ${gateway.managementKey}`,
    });
    it.each<[number, string, string, string, () => Promise<Response>]>([
      [400, 'a bad field', INVALID, 'top_p', () => chat({ top_p: 'x' })],
      [400, 'invalid JSON', INVALID, 'body', () => gateway.post(CHAT, '{')],
      [400, 'a path with a bad escape', INVALID, 'path', () => gateway.fetch('/v1/models/%zz')],
      [
        400,
        'a method and a path with a bad escape',
        INVALID,
        'path',
        () => gateway.fetch('/v1/models/%E0%A4%A', { method: 'DELETE' }),
      ],
      [401, 'no key', AUTHENTICATION, 'authorization', () => fetch(`${gateway.url}/v1/models`)],
      [
        401,
        'an unknown key',
        AUTHENTICATION,
        'authorization',
        () => chat({}, { authorization: 'Bearer sk-unknown' }),
      ],
      [
        402,
        'an expensive call',
        'insufficient_credits',
        'credits',
        () => chat({ max_tokens: 1e9 }),
      ],
      [403, 'a management key', 'permission_error', 'authorization', () => chat({}, management())],
      [404, 'an unknown path', NOT_FOUND, 'path', () => gateway.fetch('/v1/unknown')],
      [404, 'an unknown path, posted', NOT_FOUND, 'path', () => gateway.post('/v2/x', {})],
      [404, 'a path with an id', NOT_FOUND, 'id', () => gateway.fetch('/v1/customer/api-keys/1')],
      [404, 'an unknown model', NOT_FOUND, 'model', () => chat({ model: 'a/b' })],
      [415, 'a form', INVALID, 'content-type', () => chat({}, { 'content-type': 'text/plain' })],
      [
        429,
        'a key at its limit',
        'rate_limit_error',
        'rate_limit_per_minute',
        async () => chat({}, await exhaustedKey()),
      ],
      [
        429,
        'a busy vendor',
        'rate_limit_error',
        'model',
        () => chat({ model: 'sandbox/fault-429' }),
      ],
      [502, 'a broken vendor', 'provider_error', 'model', () => chat({ model: FAULT })],
      [502, 'a broken vendor, streamed', 'provider_error', 'model', () => faultyStream()],
      [503, 'a model without provider', 'provider_unavailable', 'model', () => unserved()],
    ])('is on %i %s', async (status, _name, type, param, send) => {
      const answer = await partsOf(await send());
      expectError(answer, status, type, param);
      expectNewId(answer);
      if (status === 429) expect(answer.header('retry-after')).toMatch(/^[1-9]\d?$/);
      else expect(answer.header('retry-after')).toBeNull();
    });
    const faultyStream = (): Promise<Response> => chat({ model: FAULT, stream: true });
    const unserved = (): Promise<Response> => chat({ model: 'openai/gpt-4o' });

    it.each([
      ['GET', CHAT, 'POST'],
      ['DELETE', CHAT, 'POST'],
      ['OPTIONS', CHAT, 'POST'],
      ['GET', `/api${CHAT}`, 'POST'],
      ['POST', '/v1/models', 'GET, HEAD'],
      ['PUT', '/v1/models/sandbox/echo', 'GET, HEAD'],
      ['PUT', '/v1/customer/api-keys/x', 'DELETE, GET, HEAD, PATCH'],
      ['DELETE', '/v1/customer/api-keys', 'GET, HEAD, POST'],
      ['POST', '/healthz', 'GET, HEAD'],
      // A job's id could be in this place, too.
      ['PATCH', '/v1/images/generations', 'POST'],
    ])('is on 405 %s %s, which lists the allowed methods', async (method, path, allowed) => {
      const answer = await partsOf(await gateway.fetch(path, { method }));
      expectError(answer, 405, INVALID, 'method');
      expect(answer.header('allow')).toBe(allowed);
      expectNewId(answer);
    });

    it('is on a HEAD that is not allowed, which has no body', async () => {
      const answer = await partsOf(await gateway.fetch(CHAT, { method: 'HEAD' }));
      expect([answer.status, answer.body, answer.header('allow')]).toEqual([405, '', 'POST']);
      expectNewId(answer);
    });

    it.each<[number, string, string, string]>([
      [400, 'a line that is not HTTP', 'request', 'Hello\r\n\r\n'],
      [400, 'another protocol', 'request', 'GET / SMTP/1.1\r\n\r\n'],
      [400, 'an unknown method', 'request', requestHead('FETCH / HTTP/1.1')],
      [400, 'a malformed header', 'request', 'GET / HTTP/1.1\r\nhost\r\n\r\n'],
      [400, 'the handshake of TLS', 'request', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      [400, 'two lengths', 'request', requestHead(`POST ${CHAT} HTTP/1.1`, TWO_LENGTHS)],
      [400, 'no Host', 'host', 'GET /healthz HTTP/1.1\r\n\r\n'],
      [417, 'a strange expectation', 'expect', requestHead('GET / HTTP/1.1', { expect: 'tea' })],
      [
        431,
        'endless headers',
        'headers',
        requestHead('GET / HTTP/1.1', { 'x-long': 'x'.repeat(20_000) }),
      ],
      [431, 'an endless path', 'headers', requestHead(`GET /${'x'.repeat(20_000)} HTTP/1.1`)],
      [404, 'the asterisk', 'path', requestHead('GET * HTTP/1.1')],
      [404, 'a path that is an address', 'path', requestHead('GET http://a.b/v9 HTTP/1.1')],
    ])('is on %i over a bare connection: %s', async (status, _name, param, bytes) => {
      const answer = await raw(bytes);
      expectError(answer, status, status === 404 ? NOT_FOUND : INVALID, param);
      expectNewId(answer);
    });

    it.each<[string, string]>([
      ['HTTP/1.0 without Host', 'GET /healthz HTTP/1.0\r\n\r\n'],
      ['an upgrade to another protocol', requestHead('GET /healthz HTTP/1.1', WEBSOCKET)],
      ['an absolute address', requestHead('GET http://gateway/healthz HTTP/1.1')],
    ])('is on 200 over a bare connection: %s', async (_name, bytes) => {
      const answer = await raw(bytes);
      expect([answer.status, answer.body]).toEqual([200, '{"status":"ok"}']);
      expectNewId(answer);
    });

    it('is generated here, whatever the caller sends, and appears once', async () => {
      const own = '00000000-0000-4000-8000-000000000000';
      const answer = await partsOf(
        await gateway.fetch('/v1/models', { headers: { 'x-request-id': own, 'request-id': own } }),
      );
      expect(answer.header('x-request-id')).not.toContain(own);
      expectNewId(answer);
    });

    it('is unique among concurrent requests', async () => {
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) =>
          index % 2 ? chat({ stream: index % 4 === 1 }) : gateway.fetch('/v1/unknown'),
        ),
      );
      for (const answer of answers) expectNewId(await partsOf(answer));
    });
  });

  describe('rate-limit headers', () => {
    const limitsOf = ({ header }: AnswerParts): (string | null | undefined)[] =>
      ['limit', 'remaining', 'reset'].map((name) => header(`x-ratelimit-${name}`));

    it('are on every inference answer after the key check, counting down', async () => {
      const headers = await keyWithLimit(gateway, 10);
      await awaitRoomInThisMinute();
      const sends: [number, () => Promise<Response>][] = [
        [200, () => chat({}, headers)],
        [200, () => chat({ stream: true }, headers)],
        [400, () => chat({ model: 'x' }, headers)],
        [400, () => gateway.post(CHAT, '{', headers)],
        [402, () => chat({ max_tokens: 1e9 }, headers)],
        [404, () => chat({ model: 'a/b' }, headers)],
        [413, () => gateway.post(CHAT, 'x'.repeat(20_000_001), headers)],
        [415, () => chat({}, { ...headers, 'content-type': 'text/plain' })],
        [502, () => chat({ model: FAULT }, headers)],
        [
          200,
          () => gateway.post(`/api${CHAT}`, { model: 'sandbox/echo', messages: [USER] }, headers),
        ],
        [429, () => chat({}, headers)],
      ];
      const resetAt = String((Math.floor(Date.now() / 60_000) + 1) * 60);
      for (const [index, [status, send]] of sends.entries()) {
        const answer = await partsOf(await send());
        expect(answer.status).toBe(status);
        expect(limitsOf(answer)).toEqual(['10', String(Math.max(0, 9 - index)), resetAt]);
        expectNewId(answer);
      }
    });

    it.each<[string, () => Promise<Response>]>([
      ['a catalogue call', () => gateway.fetch('/v1/models')],
      ['a customer call', () => gateway.fetch('/v1/customer/api-keys')],
      ['a call without a key', () => chat({}, { authorization: '' })],
      ['an unknown path', () => gateway.fetch('/v1/unknown')],
    ])('are not on %s', async (_name, send) => {
      expect(limitsOf(await partsOf(await send()))).toEqual([null, null, null]);
    });
  });

  describe('the key', () => {
    const headers = { 'content-type': 'application/json', 'content-length': 1_000_000 };
    const begin = async (authorization: string): Promise<RawConnection> => {
      const connection = await RawConnection.open(gateway.url);
      connection.send(requestHead(`POST ${CHAT} HTTP/1.1`, { authorization, ...headers }));
      return connection;
    };

    it('is checked before the body is read, as are its type and its limit', async () => {
      const exhausted = await exhaustedKey();
      const cases: [number, string, string][] = [
        [401, AUTHENTICATION, 'Bearer sk-unknown'],
        [401, AUTHENTICATION, 'Basic abc'],
        [403, 'permission_error', `Bearer ${gateway.managementKey}`],
        [429, 'rate_limit_error', exhausted.authorization!],
      ];
      for (const [status, type, authorization] of cases) {
        const connection = await begin(authorization);
        const answer = await within(30_000, connection.answer());
        const parts = { ...answer, header: (name: string) => answer.headers[name] };
        const param = status === 429 ? 'rate_limit_per_minute' : 'authorization';
        expectError(parts, status, type, param);
        expectNewId(parts);
        connection.close();
      }
    });

    it('ends the connection when it is invalid, before the body has arrived', async () => {
      const connection = await begin('Bearer sk-unknown');
      const answer = await connection.answer();
      expect([answer.status, answer.headers.connection]).toEqual([401, 'close']);
      // The following bytes are ignored.
      connection.send(' '.repeat(1_000_000) + requestHead('GET /healthz HTTP/1.1'));
      await connection.closed;
      await expect(connection.answer()).rejects.toThrow('closed after ""');
    });

    it.each(['/healthz', '/readyz', '/docs', '/docs-json'])(
      'is not required for %s',
      async (path) => {
        const answer = await partsOf(await fetch(gateway.url + path));
        expect(answer.status).toBe(200);
        expectNewId(answer);
      },
    );
  });

  it('does not name the software', async () => {
    for (const answer of [await chat(), await gateway.fetch('/v1/unknown')]) {
      expect(answer.headers.get('x-powered-by')).toBeNull();
      expect(answer.headers.get('server')).toBeNull();
    }
  });

  it('leaves Express no prototypes to set, which would slow down every request', async () => {
    const application = gateway.gateway.application.getHttpAdapter().getInstance() as Express;
    const server = gateway.gateway.application.getHttpServer() as Server;
    let received: [IncomingMessage, ServerResponse] | undefined;
    server.prependOnceListener('request', (...pair) => {
      received = pair;
      expect(Object.getPrototypeOf(pair[0])).toBe(application.request);
      expect(Object.getPrototypeOf(pair[1])).toBe(application.response);
    });
    const answer = await partsOf(await gateway.fetch('/healthz'));
    expect(answer.status).toBe(200);
    expect(Object.getPrototypeOf(received![0])).toBe(application.request);
    expect(Object.getPrototypeOf(received![1])).toBe(application.response);
    expect(received![0]).toHaveProperty('get');
    expect(received![1]).toHaveProperty('json');
  });
});
