import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** What a first visit may load before there is a page, in bytes as they come over the wire. */
const FIRST_LOAD_BYTES = 200_000;

let gateway: BootedGateway;
beforeAll(async () => {
  // Beside `npm test` it waits for the build that is under way there.
  await promisify(execFile)(process.execPath, ['scripts/console.mjs']);
  gateway = await bootGateway();
}, 600_000);
afterAll(() => gateway.close());

async function load(path: string): Promise<{ text: string; bytes: number }> {
  const response = await fetch(gateway.url + path, { headers: { 'accept-encoding': 'br' } });
  expect([path, response.status]).toEqual([path, 200]);
  const text = await response.text();
  return { text, bytes: Number(response.headers.get('content-length')) };
}

/** What the page loads by itself, and what those files import before they run. */
async function firstLoad(): Promise<{ names: string[]; bytes: number }> {
  const page = await load('/console');
  const names = [...page.text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(
    ([, url]) => url!,
  );
  let { bytes } = page;
  for (const name of names) {
    const file = await load(name);
    bytes += file.bytes;
    if (!name.endsWith('.js')) continue;
    const imports = [...file.text.matchAll(/(?:\bfrom|\bimport)\s*"(\.\/[\w.-]+\.js)"/g)];
    for (const [, path = ''] of imports) {
      const found = new URL(path, gateway.url + name).pathname;
      if (!names.includes(found)) names.push(found);
    }
  }
  return { names, bytes };
}

describe('the console as it is built', () => {
  it(`loads at most ${FIRST_LOAD_BYTES} bytes before it shows its first page`, async () => {
    const { names, bytes } = await firstLoad();
    expect(names.some((name) => name.endsWith('.js'))).toBe(true);
    expect(names.some((name) => name.endsWith('.css'))).toBe(true);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_BYTES);
  });

  it('has nothing within its page that its policy forbids, and a place for the nonce', async () => {
    const response = await fetch(`${gateway.url}/console/requests?model=x`);
    const page = await response.text();
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).not.toContain('unsafe');
    const nonce = /<meta name="csp-nonce" content="([^"]+)"/.exec(page)?.[1];
    expect(policy).toContain(`'nonce-${nonce}'`);
    const scripts = [...page.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)];
    expect(scripts.length).toBeGreaterThan(0);
    for (const [, attributes, code] of scripts) {
      expect([code, attributes]).toEqual(['', expect.stringMatching(/src="\/console\/assets\//)]);
    }
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
  });

  it('names files of its own that stay for ever, each of them there', async () => {
    const { names } = await firstLoad();
    for (const name of names) {
      const response = await fetch(gateway.url + name);
      await response.arrayBuffer();
      expect([name, response.headers.get('cache-control')]).toEqual([
        name,
        'public, max-age=31536000, immutable',
      ]);
    }
  });
});
