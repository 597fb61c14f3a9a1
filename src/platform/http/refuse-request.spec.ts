import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { answerClientError } from './refuse-request.js';

const record = jest.fn();

/** Creates a socket that records its output. */
function fakeSocket(overrides: object = {}) {
  const socket = {
    writable: true,
    written: '',
    destroy: jest.fn(),
    end(text: string, done: () => void) {
      this.written += text;
      done();
    },
    ...overrides,
  };
  return socket as typeof socket & Duplex;
}

function answerTo(code: string): { head: string[]; body: unknown } {
  const socket = fakeSocket();
  answerClientError(Object.assign(new Error('parse error'), { code }), socket, record);
  const [head = '', body = ''] = socket.written.split('\r\n\r\n');
  expect(socket.destroy).toHaveBeenCalledTimes(1);
  expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
  return { head: head.split('\r\n'), body: JSON.parse(body) as unknown };
}

describe(answerClientError.name, () => {
  beforeEach(() => void record.mockClear());

  it.each([
    ['HPE_INVALID_METHOD', 'HTTP/1.1 400 Bad Request', 'request'],
    ['HPE_HEADER_OVERFLOW', 'HTTP/1.1 431 Request Header Fields Too Large', 'headers'],
    ['ERR_HTTP_REQUEST_TIMEOUT', 'HTTP/1.1 408 Request Timeout', 'request'],
  ])('answers %s with the documented body', (code, statusLine, param) => {
    const { head, body } = answerTo(code);
    expect(head[0]).toBe(statusLine);
    const requestId = head.find((line) => line.startsWith('request-id: '))!.split(': ')[1];
    const error = expect.objectContaining({ status: Number(statusLine.split(' ')[1]) }) as unknown;
    expect(record).toHaveBeenLastCalledWith({ requestId, error });
    expect(body).toEqual({
      error: {
        message: expect.stringMatching(/\.$/),
        type: 'invalid_request_error',
        code: Number(statusLine.split(' ')[1]),
        param,
      },
    });
  });

  it('sends the same request id in both headers, a new one each time', () => {
    const idsOf = ({ head }: { head: string[] }) =>
      head.filter((line) => /^(x-)?request-id: /.test(line)).map((line) => line.split(': ')[1]);
    const [one, repeated] = idsOf(answerTo('HPE_INVALID_METHOD'));
    expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(repeated).toBe(one);
    expect(idsOf(answerTo('HPE_INVALID_METHOD'))[0]).not.toBe(one);
  });

  it.each([
    ['a closed connection', 'ECONNRESET', {}],
    ['a socket that cannot be written to', 'HPE_INVALID_METHOD', { writable: false }],
    [
      'a connection with an answer on its way',
      'HPE_INVALID_METHOD',
      { _httpMessage: { headersSent: true, req: { complete: false } } },
    ],
  ])('writes nothing to %s', (_, code, overrides) => {
    const socket = fakeSocket(overrides);
    answerClientError(Object.assign(new Error('parse error'), { code }), socket, record);
    expect(socket.written).toBe('');
    expect(record).not.toHaveBeenCalled();
    expect(socket.destroy).toHaveBeenCalledTimes(1);
  });

  it('answers when a handler has not sent anything yet', () => {
    const answer = { headersSent: false, req: { complete: false } };
    const socket = fakeSocket({ _httpMessage: answer });
    answerClientError(Object.assign(new Error('parse error'), { code: 'HPE_X' }), socket, record);
    expect(socket.written).toContain('HTTP/1.1 400');
  });

  it('completes the answer to the previous request and then closes', async () => {
    const server = createServer((_request, response) => {
      setTimeout(() => response.end('the answer'), 20);
    });
    server.on('clientError', (error, socket) => answerClientError(error, socket, record));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nrubbish\r\n\r\n');
    let text = '';
    for await (const piece of socket) text += String(piece);
    server.close();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close.*the answer$/is);
    expect(text).not.toContain('400');
  });
});
