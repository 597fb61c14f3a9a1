import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadPriceList } from './load-price-list.js';

const LIST = JSON.stringify({ m: { litellm_provider: 'acme', input_cost_per_token: 1e-6 } });

describe(loadPriceList.name, () => {
  const folder = mkdtempSync(join(tmpdir(), 'prices-'));
  let server: Server;
  let origin = '';

  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === '/list') response.end(LIST);
      else if (request.url === '/moved') response.writeHead(302, { location: '/list' }).end();
      else if (request.url === '/gone') response.writeHead(404).end('no');
      else if (request.url === '/slow') response.write('{');
      else if (request.url === '/endless') {
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20)));
        };
        response.on('drain', more);
        more();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
    server.closeAllConnections();
    server.close();
  });

  it('reads a file and a URL', async () => {
    const file = join(folder, 'list.json');
    writeFileSync(file, LIST);
    for (const place of [file, `${origin}/list`]) {
      expect((await loadPriceList(place)).models).toHaveLength(1);
    }
  });

  it.each([
    ['/moved', 'it redirects to /list; name that address instead'],
    ['/gone', 'the server responded with status 404'],
    ['/slow', 'it did not arrive within 0.5 s'],
    ['/endless', 'it is larger than 1 MB'],
  ])('reports what is wrong with %s', async (path, message) => {
    // The endless one reaches its size limit well within that time.
    const timeoutMs = path === '/slow' ? 500 : 30_000;
    const loading = loadPriceList(origin + path, { timeoutMs, maxBytes: 1024 * 1024 });
    await expect(loading).rejects.toThrow(`${origin}${path}: ${message}`);
  });

  it('reports an unreachable server and unreadable files', async () => {
    await expect(loadPriceList('http://127.0.0.1:1/x')).rejects.toThrow('it cannot be fetched (');
    const missing = join(folder, 'missing.json');
    await expect(loadPriceList(missing)).rejects.toThrow('cannot be read (ENOENT)');
    await expect(loadPriceList(folder)).rejects.toThrow('cannot be read (EISDIR)');
    const large = join(folder, 'large.json');
    writeFileSync(large, Buffer.alloc(2_000, 0x20));
    await expect(loadPriceList(large, { maxBytes: 1_024 })).rejects.toThrow('it is larger than');
  });
});
