import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendTextStream } from '../../src/platform/http/send-body.js';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** Serves one source; `ended` settles like `sendTextStream`. */
async function serve(source: (response: ServerResponse) => AsyncGenerator<string>) {
  let finish: (result: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => (finish = resolve));
  server = createServer((_, response) => {
    sendTextStream(response, { 'Content-Type': 'text/plain' }, source(response)).then(
      () => finish('sent'),
      (error: unknown) => {
        if (!response.headersSent) response.writeHead(500).end('failed');
        finish(error);
      },
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, ended };
}

describe(sendTextStream.name, () => {
  it('sends all pieces in order', async () => {
    const { url, ended } = await serve(async function* () {
      for (let piece = 0; piece < 50; piece++) yield `${piece},`;
    });
    const text = await (await fetch(url)).text();
    expect(text).toBe(Array.from({ length: 50 }, (_, piece) => `${piece},`).join(''));
    expect(await ended).toBe('sent');
  });

  it('uses at most one close listener', async () => {
    let listeners = 0;
    const { url } = await serve(async function* (response) {
      yield 'begun';
      listeners = response.listenerCount('close');
    });
    await (await fetch(url)).text();
    // Node reports more than ten as a leak.
    expect(listeners).toBeLessThanOrEqual(1);
  });

  it('ends the source soon after the caller disconnected, without a failure', async () => {
    let made = 0;
    let isClosed = false;
    const { url, ended } = await serve(async function* () {
      try {
        for (; made < 100_000; made++) yield 'x'.repeat(100_000);
      } finally {
        isClosed = true;
      }
    });
    const controller = new AbortController();
    const response = await fetch(url, { signal: controller.signal });
    await response.body!.getReader().read();
    controller.abort();
    expect(await ended).toBe('sent');
    expect(isClosed).toBe(true);
    expect(made).toBeLessThan(1_000);
  });

  it('produces no more pieces than a slow caller reads', async () => {
    let made = 0;
    const { url } = await serve(async function* () {
      for (; made < 100_000; made++) yield 'x'.repeat(100_000);
    });
    const controller = new AbortController();
    const response = await fetch(url, { signal: controller.signal });
    await new Promise((resolve) => setTimeout(resolve, 500));
    // Socket buffers hold some megabytes.
    expect(made).toBeLessThan(300);
    controller.abort();
    await response.body!.cancel().catch(() => undefined);
  });

  it('leaves the response to its caller when the source fails before the first piece', async () => {
    const failure = new Error('no rows');
    const { url, ended } = await serve(async function* () {
      throw failure;
      yield '';
    });
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([500, 'failed']);
    expect(await ended).toBe(failure);
  });

  it('cuts the connection when the source fails later', async () => {
    const failure = new Error('no more rows');
    const { url, ended } = await serve(async function* () {
      yield 'begun';
      throw failure;
    });
    await expect(fetch(url).then((response) => response.text())).rejects.toThrow();
    expect(await ended).toBe(failure);
  });
});
