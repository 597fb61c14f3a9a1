import 'reflect-metadata';
import { Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import http, { type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { setUpApplication } from '../../src/app/app.setup.js';
import { ConsoleController } from '../../src/app/console/console.controller.js';
import { ConsoleFiles } from '../../src/app/console/console-files.js';
import { APP_CONFIG, type AppConfig } from '../../src/platform/config/app-config.js';
import { loadSettings } from '../../src/app/load-settings.js';
import { ClientNetworks } from '../../src/core/access/client-networks.js';
import { InFlightLimiter } from '../../src/core/access/in-flight-limiter.js';
import { UnauthenticatedQueue } from '../../src/core/access/unauthenticated-queue.js';
import { SessionGate } from '../../src/core/access/sessions/session-gate.service.js';
import { readCookie } from '../../src/platform/http/cookies.js';
import { LeanExpressAdapter } from '../../src/platform/http/lean-express.adapter.js';
import { GatewayMetrics } from '../../src/platform/metrics/gateway-metrics.js';

const SCRIPT = 'console.log("the console");\n'.repeat(50);
const INDEX = '<meta name="csp-nonce" content="__CSP_NONCE__"><p>The console</p>';

let folder: string;
let application: INestApplication<Server>;
let port: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gateway-console-'));
  await writeFile(join(folder, 'secret.txt'), 'not of the console');
  await serve();
});
afterEach(async () => {
  await application.close();
  await rm(folder, { recursive: true });
});

/** Serves an application with only the console, and the headers that all responses have. */
async function serve(environment: Record<string, string> = {}): Promise<void> {
  const files = new ConsoleFiles(join(folder, 'console'));
  const config: AppConfig = loadSettings(environment);
  class Pages {}
  Module({
    controllers: [ConsoleController],
    providers: [
      GatewayMetrics,
      { provide: InFlightLimiter, useValue: new InFlightLimiter(config) },
      ClientNetworks,
      UnauthenticatedQueue,
      { provide: APP_CONFIG, useValue: config },
      { provide: ConsoleFiles, useValue: files },
      { provide: SessionGate, useValue: { tokenOf: sessionOf } },
    ],
  })(Pages);
  application = await NestFactory.create(Pages, new LeanExpressAdapter(), { logger: false });
  await setUpApplication(application, undefined, () => undefined);
  await application.listen(0, '127.0.0.1');
  const address = application.getHttpServer().address();
  port = typeof address === 'object' && address ? address.port : 0;
}

function sessionOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  return readCookie(headers.cookie, 'gateway_session');
}

/** Publishes a build with a rename, like `scripts/console.mjs`. */
async function build(files: Record<string, string>, stamp = 'one'): Promise<void> {
  const place = join(folder, `.console-${stamp}`);
  for (const [path, text] of Object.entries({ ...files, '.built-from': stamp })) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
    if (!path.endsWith('.js')) continue;
    await writeFile(join(place, `${path}.br`), brotliCompressSync(text));
    await writeFile(join(place, `${path}.gz`), gzipSync(text));
  }
  await rm(join(folder, 'console'), { recursive: true, force: true });
  await rename(place, join(folder, 'console'));
}

const BUILT = { 'index.html': INDEX, 'assets/main-1.js': SCRIPT, 'icon.svg': '<svg/>' };

interface Answer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/** Sends a raw request: the path is not normalized, and no encoding is added or decoded. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, headers, method }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.once('error', reject);
    request.end();
  });
}

function directivesOf({ headers }: Answer): Record<string, string> {
  const policy = String(headers['content-security-policy']);
  return Object.fromEntries(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources.join(' ')];
    }),
  );
}

describe('console page', () => {
  it.each(['/console', '/console/', '/console?tab=1', '/console/requests', '/console/tenants/a.b'])(
    'is served at %s and never cached',
    async (path) => {
      await build(BUILT);
      const answer = await ask(path);
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'no-store']);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      });
      expect(answer.body.toString()).toContain('<p>The console</p>');
    },
  );

  it('allows only its own files and a nonce that is new each time', async () => {
    await build(BUILT);
    const answers = [await ask('/console'), await ask('/console')];
    const nonces = answers.map(({ body }) => /content="([^"]+)"/.exec(body.toString())?.[1]);
    expect(nonces[0]).toMatch(/^[\w+/]{22}==$/);
    expect(nonces[1]).not.toBe(nonces[0]);
    expect(directivesOf(answers[0]!)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': `'self' 'nonce-${nonces[0]}'`,
      'img-src': "'self' data: blob:",
      'media-src': "'self' data: blob:",
      'connect-src': "'self'",
      'font-src': "'self'",
      'manifest-src': "'self'",
      'object-src': "'none'",
      'base-uri': "'none'",
      'form-action': "'self'",
      'frame-ancestors': "'none'",
    });
  });

  it('says whether there is a session cookie, which saves the page a request', async () => {
    await build({ 'index.html': `${INDEX}<meta content="__HAS_SESSION_COOKIE__">` });
    const hint = async (headers: Record<string, string>): Promise<string> =>
      (await ask('/console', headers)).body.toString();
    expect(await hint({})).toContain('<meta content="false">');
    expect(await hint({ cookie: 'gateway_session=x' })).toContain('<meta content="true">');
  });

  it.each([
    [{ S3_ENDPOINT: 'https://files.example:9000/x' }, ' https://files.example:9000'],
    [{}, ' https://pictures.s3.eu-west-1.amazonaws.com'],
    [{ S3_BUCKET: 'a.b' }, ' https://s3.eu-west-1.amazonaws.com'],
    [{ S3_REGION: 'cn-north-1' }, ' https://pictures.s3.cn-north-1.amazonaws.com.cn'],
    [{ S3_REDIRECT: 'false' }, ''],
    [
      { GATEWAY_PUBLIC_URL: 'https://gateway.example/x', S3_REDIRECT: 'false' },
      ' https://gateway.example',
    ],
  ])('allows media from where job results are stored: %j', async (environment, origins) => {
    await application.close();
    await serve({ S3_BUCKET: 'pictures', S3_REGION: 'eu-west-1', ...environment });
    await build(BUILT);
    const directives = directivesOf(await ask('/console'));
    expect(directives['img-src']).toBe(`'self' data: blob:${origins}`);
    expect(directives['media-src']).toBe(`'self' data: blob:${origins}`);
    expect(directives['connect-src']).toBe("'self'");
  });

  it('answers HEAD like GET without the body, and no other method', async () => {
    await build(BUILT);
    const [head, get] = [await ask('/console', {}, 'HEAD'), await ask('/console')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    const post = await ask('/console/requests', {}, 'POST');
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('console file', () => {
  it.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
    ['identity', undefined, (bytes: Buffer) => bytes],
    ['', undefined, (bytes: Buffer) => bytes],
  ] as const)('is compressed for clients that accept %p', async (accepted, encoding, decode) => {
    await build(BUILT);
    const answer = await ask('/console/assets/main-1.js', { 'accept-encoding': accepted });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-length': String(answer.body.length),
    });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers.vary).toContain('Accept-Encoding');
    expect(decode(answer.body).toString()).toBe(SCRIPT);
  });

  it('is revalidated when its name contains no hash', async () => {
    await build(BUILT);
    const answer = await ask('/console/icon.svg', { 'accept-encoding': 'br' });
    expect([answer.status, answer.body.toString()]).toEqual([200, '<svg/>']);
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.headers['content-encoding']).toBeUndefined();
  });

  it('is not sent again to clients that have it in any encoding', async () => {
    await build(BUILT);
    const path = '/console/assets/main-1.js';
    const { headers } = await ask(path, { 'accept-encoding': 'br' });
    const known = { 'if-none-match': String(headers.etag), 'accept-encoding': 'gzip' };
    const again = await ask(path, known);
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
    expect(again.headers['cache-control']).toBe(headers['cache-control']);
    expect((await ask('/console/icon.svg', known)).status).toBe(200);
    await build({ ...BUILT, 'assets/main-1.js': `${SCRIPT}//` }, 'two');
    await ask('/console');
    expect((await ask(path, known)).status).toBe(200);
  });

  it('answers HEAD with the length of GET', async () => {
    await build(BUILT);
    const head = await ask('/console/assets/main-1.js', { 'accept-encoding': 'br' }, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(brotliCompressSync(SCRIPT).length));
  });

  it.each(['/console/assets/main-2.js', '/console/assets/', '/console/assets/main-1.js/'])(
    'is a 404 instead of the page when missing: %s',
    async (path) => {
      await build(BUILT);
      const answer = await ask(path);
      expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([
        404,
        { error: { type: 'not_found_error', param: 'path' } },
      ]);
    },
  );

  it.each([
    '/console/../secret.txt',
    '/console/assets/../../secret.txt',
    '/console/assets/..%2f..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/assets/..\\..\\secret.txt',
    '/console//etc/passwd',
    '/console/.built-from',
    '/console/assets/main-1.js%00.html',
    '/console/index.html/../../secret.txt',
    '/console/%ff',
    '/console/constructor',
    '/console/assets/main-1.js.br',
  ])('cannot be outside the build: %s', async (path) => {
    await build(BUILT);
    const answer = await ask(path);
    const text = answer.body.toString();
    expect([200, 400, 404]).toContain(answer.status);
    if (answer.status === 200) expect(text).toContain('<p>The console</p>');
    expect(text).not.toContain('not of the console');
    expect(text).not.toContain('root:');
  });
});

describe('console that is not built', () => {
  const state = (text: string): Promise<void> =>
    writeFile(join(folder, '.console-state.json'), text);

  it.each([
    ['no build is running', undefined, 'npm run build:console', '15'],
    [
      'a build is running',
      { pid: process.pid, step: 'installing <b>' },
      'installing &#60;b&#62;',
      '3',
    ],
    ['the build failed', { pid: 1, problem: 'there is no network' }, 'there is no network', '15'],
    ['the build was interrupted', { pid: 2 ** 22 + 1, step: 'bundling' }, 'was stopped', '15'],
    ['the state is unreadable', '{"pid":', 'npm run build:console', '15'],
  ] as const)('reports that %s', async (_, content, words, seconds) => {
    if (content !== undefined) {
      await state(typeof content === 'string' ? content : JSON.stringify(content));
    }
    const answer = await ask('/console/requests');
    expect(answer.status).toBe(503);
    expect(answer.headers).toMatchObject({
      'retry-after': seconds,
      refresh: seconds,
      'cache-control': 'no-store',
      'content-type': 'text/html; charset=utf-8',
    });
    const page = answer.body.toString();
    expect(page).toContain(words);
    expect(page).not.toMatch(/<script|\sstyle=|\son\w+=/);
    const nonce = /<style nonce="([^"]+)">/.exec(page)?.[1];
    expect(directivesOf(answer)['style-src']).toBe(`'self' 'nonce-${nonce}'`);
  });

  it('is served as soon as it is built, and a new build with files of the previous one', async () => {
    expect((await ask('/console')).status).toBe(503);
    expect((await ask('/console/assets/main-1.js')).status).toBe(404);
    await build(BUILT);
    expect((await ask('/console/assets/main-1.js')).status).toBe(200);
    expect((await ask('/console')).status).toBe(200);

    await build({ 'index.html': '<p>The next</p>', 'assets/main-2.js': SCRIPT }, 'two');
    // A page loaded from another process may already belong to the next build.
    expect((await ask('/console/assets/main-2.js')).status).toBe(200);
    expect((await ask('/console')).body.toString()).toBe('<p>The next</p>');
    expect((await ask('/console/assets/main-1.js')).status).toBe(200);
  });

  it('keeps serving the previous build during a replacement', async () => {
    await build(BUILT);
    expect((await ask('/console')).status).toBe(200);
    await rm(join(folder, 'console'), { recursive: true });
    expect((await ask('/console')).status).toBe(200);
    expect((await ask('/console/assets/main-1.js')).status).toBe(200);
  });

  it('reads a build once for concurrent requests', async () => {
    await build(BUILT);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('/console')));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });
});
