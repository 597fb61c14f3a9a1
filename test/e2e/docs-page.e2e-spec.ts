import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';

/** The policy of a page that runs only scripts of the service. */
const STRICT = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

let gateway: BootedGateway;
beforeAll(async () => {
  gateway = await bootGateway();
});
afterAll(() => gateway.close());

function directivesOf(response: Response): Record<string, string[]> {
  const policy = response.headers.get('content-security-policy') ?? '';
  return Object.fromEntries(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
}

describe.each(['/docs', '/docs/', '/docs/oauth2-redirect.html'])('the page %s', (path) => {
  it('has a strict policy that allows everything it loads', async () => {
    const response = await fetch(gateway.url + path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(directivesOf(response)).toMatchObject(STRICT);
    expect(JSON.stringify(directivesOf(response)['script-src'])).not.toContain('unsafe');

    const page = await response.text();
    const scripts = [...page.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)];
    expect(scripts.length).toBeGreaterThan(0);
    const sources = scripts.map(([, attributes = '', code = '']) => {
      expect(code.trim()).toBe('');
      return /src=["']?([^"' >]+)/.exec(attributes)![1]!;
    });
    expect(page).not.toMatch(/\son[a-z]+\s*=|javascript:/i);
    const links = [...page.matchAll(/<link[^>]*href=["']?([^"' >]+)/g)].map(([, href]) => href!);
    for (const reference of [...sources, ...links]) {
      const url = new URL(reference, gateway.url + path);
      expect(url.origin).toBe(gateway.url);
      const file = await fetch(url);
      expect([url.pathname, file.status]).toEqual([url.pathname, 200]);
      expect(file.headers.get('x-content-type-options')).toBe('nosniff');
      await file.arrayBuffer();
    }
  });
});

describe('the content of the page', () => {
  it('is read from /docs-json, so that no visit generates a megabyte of script', async () => {
    const script = await (await fetch(`${gateway.url}/docs/swagger-ui-init.js`)).text();
    expect(script).toContain('"swaggerUrl": "/docs-json"');
    expect(script).not.toContain('swaggerDoc":');
    expect(script.length).toBeLessThan(5_000);
  });

  it('comes from the build, since generating it takes half a second', async () => {
    const built = await readFile('dist/openapi.json', 'utf8');
    expect(await (await fetch(`${gateway.url}/docs-json`)).text()).toBe(built);
  });

  it('is the same for concurrent visitors', async () => {
    const ask = async () => (await fetch(`${gateway.url}/docs-json`)).text();
    const [first, second] = await Promise.all([ask(), ask()]);
    expect(JSON.parse(first)).toMatchObject({ openapi: '3.1.0', info: { title: 'Model Gateway' } });
    expect(second).toBe(first);
    expect(await ask()).toBe(first);
  });

  it('has no other format, which would be generated for each request', async () => {
    expect((await fetch(`${gateway.url}/docs-yaml`)).status).toBe(404);
  });
});
