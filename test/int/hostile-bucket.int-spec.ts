import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import {
  ArchiveBucket,
  ArchiveUnavailableError,
} from '../../src/core/request-log/archive/archive-bucket.js';
import { S3ArtifactStore } from '../../src/features/jobs/artifacts/s3-artifact-store.js';
import type { S3Config } from '../../src/platform/config/app-config.js';
import { contentOf } from '../../src/operator/backup/backup-archive.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Writes until the connection is closed. */
function endless(response: ServerResponse, piece: Buffer): void {
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
}

const XML = Buffer.from('<Error><Code>'.padEnd(65_536, 'x'));

describe('a malicious bucket', () => {
  let server: Server;
  let elsewhere: Server;
  let config: S3Config;
  let answer: Answer;
  let reached = 0;
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);

  beforeAll(async () => {
    server = createServer((request, response) => answer(request, response));
    elsewhere = createServer((_request, response) => {
      reached += 1;
      response.end('inside');
    });
    for (const each of [server, elsewhere]) {
      each.listen(0, '127.0.0.1');
      await once(each, 'listening');
    }
    config = {
      bucket: 'gateway',
      endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      region: 'us-east-1',
      accessKeyId: 'A',
      secretAccessKey: 'B',
      redirect: false,
    };
  });
  afterEach(() => {
    reached = 0;
  });
  afterAll(() => {
    for (const each of [server, elsewhere]) {
      each.closeAllConnections();
      each.close();
    }
  });

  const withStore = async (work: (store: S3ArtifactStore) => Promise<unknown>): Promise<void> => {
    const store = new S3ArtifactStore(config);
    try {
      await work(store);
    } finally {
      await store.onApplicationShutdown();
    }
  };

  it.each([301, 302, 307, 308])('cannot redirect with a %i', async (status) => {
    const { port } = elsewhere.address() as AddressInfo;
    answer = (_request, response) => {
      const headers = { location: `http://127.0.0.1:${port}/`, 'x-amz-bucket-region': 'evil' };
      response.writeHead(status, headers).end();
    };
    await withStore(async (store) => {
      await expect(store.open('img')).rejects.toThrow();
    });
    expect(reached).toBe(0);
  });

  it.each([
    ['an endless error', 400],
    ['an endless error for a missing file', 404],
    ['an endless answer to a deletion', 200],
  ])('sends %s, which is not buffered', async (_name, status) => {
    answer = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/xml' });
      endless(response, XML);
    };
    const before = process.memoryUsage.rss();
    await withStore(async (store) => {
      if (status === 200) await store.remove('img').catch(() => undefined);
      else await expect(store.open('img')).rejects.toThrow();
    });
    expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
  });

  it('sends files without a length, or with a wrong one', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      endless(response, XML);
    };
    await withStore(async (store) => {
      await expect(store.open('img')).rejects.toThrow('of another length');
      await expect(store.open('img', { start: 0, end: 9 })).rejects.toThrow('of another length');
    });
    answer = (_request, response) => {
      response.writeHead(206, { 'content-length': 20, 'content-range': 'bytes 0-19/20' });
      response.end(Buffer.alloc(20));
    };
    await withStore(async (store) => {
      await expect(store.open('img', { start: 0, end: 9 })).rejects.toThrow('of another length');
    });
  });

  it('sends less or more than it announced', async () => {
    answer = (request) => {
      request.socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n${'x'.repeat(100)}`);
    };
    await withStore(async (store) => {
      const opened = await store.open('img');
      const bytes = await contentOf(opened!.stream).catch(() => Buffer.alloc(0));
      expect([opened!.bytes, bytes.length <= 10]).toEqual([10, true]);
    });
    answer = (request) => {
      request.socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nxxx');
    };
    await withStore(async (store) => {
      const opened = await store.open('img');
      await expect(contentOf(opened!.stream)).rejects.toThrow();
    });
  });

  it('sends archive parts with a wrong length, or lists endless ones', async () => {
    const bucket = new ArchiveBucket({ s3: config });
    answer = (_request, response) => {
      response.writeHead(206, { 'content-type': 'binary/octet-stream' });
      endless(response, XML);
    };
    await expect(bucket.read('key', 0, 10)).rejects.toThrow(ArchiveUnavailableError);
    await expect(bucket.read('key', 0, 2 ** 40)).rejects.toThrow(ArchiveUnavailableError);
    await expect(bucket.read('key', 0, Number.NaN)).rejects.toThrow(ArchiveUnavailableError);
    await bucket.onApplicationShutdown();
  });
});
