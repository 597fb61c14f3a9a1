import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { ChunkedBody } from './sse-writer.js';

const PIECES = ['data: "é"\n\n', '', Buffer.from('data: "Ω"\n\n'), Buffer.alloc(20_000, 'x')];
const WHOLE = Buffer.concat(PIECES.map((piece) => Buffer.from(piece)));

describe(ChunkedBody.name, () => {
  it('puts the same bytes on the wire as Node does, for the caller to keep the connection', async () => {
    const framed = await exchange('1.1', (response) => {
      const body = new ChunkedBody(response);
      for (const piece of PIECES) body.write(piece);
      body.end();
    });
    const usual = await exchange('1.1', (response) => {
      for (const piece of PIECES) response.write(piece);
      response.end();
    });
    expect(framed).toEqual(usual);
    expect(framed.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*Transfer-Encoding: chunked\r\n/);
    expect(framed.subarray(-5).toString()).toBe('0\r\n\r\n');
  });

  it('frames nothing towards HTTP/1.0', async () => {
    const received = await exchange('1.0', (response) => {
      const body = new ChunkedBody(response);
      for (const piece of PIECES) body.write(piece);
      body.end();
    });
    const [head = ''] = received.toString('latin1').split('\r\n\r\n', 1);
    expect(head).not.toContain('chunked');
    expect(received.subarray(head.length + 4)).toEqual(WHOLE);
  });

  it('says when the reader lags', async () => {
    const answers: boolean[] = [];
    await exchange('1.1', (response) => {
      const body = new ChunkedBody(response);
      answers.push(body.write('a'), body.write(Buffer.alloc(1024 * 1024)));
      body.end();
    });
    expect(answers).toEqual([true, false]);
  });

  it('answers the next request on the same connection', async () => {
    const received = await exchange('1.1', writeOne, 2);
    expect(received.toString().match(/3\r\none\r\n0\r\n\r\n/g)).toHaveLength(2);
  });
});

function writeOne(response: ServerResponse): void {
  const body = new ChunkedBody(response);
  body.write('one');
  body.end();
}

/** All bytes that a server sends in answer to so many requests, but for the date. */
async function exchange(
  version: '1.0' | '1.1',
  answer: (response: ServerResponse) => void,
  requests = 1,
): Promise<Buffer> {
  const server = createServer((_request, response) => {
    response.sendDate = false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    answer(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const parts: Buffer[] = [];
  client.on('data', (bytes: Buffer) => parts.push(bytes));
  for (let sent = 1; sent <= requests; sent++) {
    const last = sent === requests ? 'Connection: close\r\n' : '';
    client.write(`GET / HTTP/${version}\r\nHost: x\r\n${last}\r\n`);
  }
  await once(client, 'close');
  server.close();
  return Buffer.concat(parts);
}
