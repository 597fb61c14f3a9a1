import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** Byte budget for the first visit, compressed. */
const FIRST_LOAD_BYTES = 200_000;
/** Additional byte budget for each other page. */
const PAGE_BYTES = 40_000;

let gateway: BootedGateway;
beforeAll(async () => {
  // Waits for the build if `npm test` has started it.
  await promisify(execFile)(process.execPath, ['scripts/console.mjs']);
  gateway = await bootGateway();
}, 600_000);
afterAll(() => gateway.close());

/** Loads a file with Brotli and returns its compressed size. */
async function load(path: string): Promise<{ text: string; bytes: number }> {
  const response = await fetch(gateway.url + path, { headers: { 'accept-encoding': 'br' } });
  expect([path, response.status]).toEqual([path, 200]);
  const text = await response.text();
  return { text, bytes: Number(response.headers.get('content-length')) };
}

/** Loads files and their static imports, and returns the size of each. */
async function loadWithImports(names: readonly string[]): Promise<Map<string, number>> {
  const loaded = new Map<string, number>();
  const wanted = [...names];
  for (let name = wanted.pop(); name !== undefined; name = wanted.pop()) {
    if (loaded.has(name)) continue;
    const { text, bytes } = await load(name);
    loaded.set(name, bytes);
    if (!name.endsWith('.js')) continue;
    for (const [, path = ''] of text.matchAll(/(?:\bfrom|\bimport)\s*"(\.\/[\w.-]+\.js)"/g)) {
      wanted.push(new URL(path, gateway.url + name).pathname);
    }
  }
  return loaded;
}

/** Loads the document with its scripts, their imports and styles. */
async function loadShell(): Promise<Map<string, number>> {
  const page = await load('/console');
  const names = [...page.text.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(
    ([, url]) => url!,
  );
  return new Map([...(await loadWithImports(names)), ['/console', page.bytes]]);
}

const assets = (pattern: RegExp): string[] =>
  readdirSync('dist/console/assets')
    .filter((name) => pattern.test(name))
    .map((name) => `/console/assets/${name}`);

const sum = (sizes: Map<string, number>): number =>
  [...sizes.values()].reduce((total, bytes) => total + bytes, 0);

describe('built console', () => {
  it(`loads at most ${FIRST_LOAD_BYTES} bytes for the first page, including its charts`, async () => {
    const first = await loadWithImports(assets(/^(?:overview\.page|plot)-.*\.(?:js|css)$/));
    expect(first.size).toBeGreaterThan(2);
    const all = new Map([...(await loadShell()), ...first]);
    expect([...all.keys()].some((name) => name.endsWith('.css'))).toBe(true);
    expect(sum(all)).toBeGreaterThan(50_000);
    expect(sum(all)).toBeLessThanOrEqual(FIRST_LOAD_BYTES);
  });

  it(`loads at most ${PAGE_BYTES} bytes for each other page`, async () => {
    const shell = await loadShell();
    const pages = assets(/\.page-.*\.js$/);
    const sources = readdirSync('console/src/pages', { recursive: true, encoding: 'utf8' });
    // Each page is a separate chunk, loaded on demand.
    expect(pages).toHaveLength(sources.filter((name) => name.endsWith('.page.tsx')).length);
    for (const page of pages) {
      expect(shell.has(page)).toBe(false);
      const added = [...(await loadWithImports([page]))].filter(([name]) => !shell.has(name));
      const bytes = sum(new Map(added));
      expect([page, bytes, bytes <= PAGE_BYTES]).toEqual([page, expect.any(Number), true]);
    }
  });

  it('contains no source maps', () => {
    const files = readdirSync('dist/console', { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => name.endsWith('.map'))).toEqual([]);
    const scripts = files.filter((name) => name.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(0);
    for (const name of scripts) {
      expect(readFileSync(join('dist/console', name), 'utf8')).not.toContain('sourceMappingURL');
    }
  });

  it('serves the licence notices of its dependencies', async () => {
    const { text } = await load('/console/licences.txt');
    for (const name of ['react-dom', '@tanstack/react-router'])
      expect(text).toContain(`## ${name} `);
  });

  it('complies with its content security policy and contains the nonce', async () => {
    const response = await fetch(`${gateway.url}/console/requests?model=x`);
    const page = await response.text();
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).not.toContain('unsafe');
    const nonce = /<meta name="csp-nonce" content="([^"]+)"/.exec(page)?.[1];
    expect(policy).toContain(`'nonce-${nonce}'`);
    // No template placeholder is left over.
    expect(page).toContain('<meta name="has-session-cookie" content="false"');
    expect(page).not.toContain('__');
    const scripts = [...page.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)];
    expect(scripts.length).toBeGreaterThan(0);
    for (const [, attributes, code] of scripts) {
      expect([code, attributes]).toEqual(['', expect.stringMatching(/src="\/console\/assets\//)]);
    }
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
  });

  it('serves its assets as immutable', async () => {
    const names = [...(await loadShell()).keys()].filter((name) => name !== '/console');
    expect(names.length).toBeGreaterThan(1);
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
