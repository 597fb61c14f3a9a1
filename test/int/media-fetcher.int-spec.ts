import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import { CallAbortedError } from '../../src/vendors/transport/upstream-response.js';
import { UpstreamError } from '../../src/vendors/upstream-error.js';
import {
  startScriptedServer,
  type Script,
  type ScriptedServer,
} from '../contract/scripted-server.js';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n-pixels-', 'latin1');
const { signal } = new AbortController();

let server: ScriptedServer;
const fetchers: MediaFetcher[] = [];

beforeEach(async () => {
  server = await startScriptedServer((_call, response) => void response.destroy());
});

afterEach(async () => {
  await Promise.all(fetchers.splice(0).map((fetcher) => fetcher.onApplicationShutdown()));
  await server.close();
});

function fetcher(options: Partial<ConstructorParameters<typeof MediaFetcher>[0]> = {}) {
  const made = new MediaFetcher({ allowPrivate: true, ...options });
  fetchers.push(made);
  return made;
}

const get = (script: Script, options: { maxBytes?: number; timeoutMs?: number } = {}) => {
  server.script = script;
  const { timeoutMs, ...rest } = options;
  const made = fetcher(timeoutMs !== undefined ? { timeoutMs } : {});
  return made.fetch(`${server.origin}/a.png?x=1`, { signal, param: 'messages', ...rest });
};

const answer =
  (headers: Record<string, string>, body = PNG, status = 200): Script =>
  (_call, response) =>
    void response.writeHead(status, headers).end(body);

const refusal = async (result: Promise<unknown>): Promise<UpstreamError> => {
  const error: unknown = await result.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof UpstreamError)) throw new Error(`not refused: ${String(error)}`);
  expect([error.failure, error.param]).toEqual(['caller', 'messages']);
  return error;
};

describe(MediaFetcher.name, () => {
  it('fetches an image with its type, and sends no credentials', async () => {
    const media = await get(answer({ 'content-type': 'image/png' }));
    expect(media).toEqual({ mediaType: 'image/png', data: PNG });
    const [call] = server.calls;
    expect([call!.method, call!.path]).toEqual(['GET', '/a.png?x=1']);
    expect(Object.keys(call!.headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
    ]);
  });

  it.each<[string, Script, RegExp]>([
    ['a redirect', answer({ location: 'http://169.254.169.254/' }, PNG, 302), /redirects/],
    ['status 404', answer({}, PNG, 404), /status 404/],
    ['status 206', answer({ 'content-type': 'image/png' }, PNG, 206), /status 206/],
    ['a type that is no image', answer({ 'content-type': 'application/json' }), /is not an image/],
    [
      'a compressed answer',
      answer({ 'content-type': 'image/png', 'content-encoding': 'gzip' }),
      /compressed/,
    ],
    ['a closed connection', (_call, response) => void response.destroy(), /could not be read/],
    [
      'an interrupted answer',
      (_call, response) => {
        response.writeHead(200, { 'content-type': 'image/png', 'content-length': '1000' });
        response.write(PNG);
        setTimeout(() => response.destroy(), 20);
      },
      /could not be read/,
    ],
  ])('rejects %s', async (_what, script, message) => {
    expect((await refusal(get(script))).message).toMatch(message);
    expect(server.calls).toHaveLength(1);
  });

  it('rejects files that are too large, whether announced or not', async () => {
    const announced = answer({ 'content-type': 'image/png', 'content-length': '16' });
    expect((await refusal(get(announced, { maxBytes: 15 }))).message).toMatch(/larger/);
    const chunked: Script = (_call, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      for (let times = 0; times < 100; times++) response.write(Buffer.alloc(1_000));
      response.end();
    };
    expect((await refusal(get(chunked, { maxBytes: 15_000 }))).message).toMatch(/larger/);
    expect((await get(chunked, { maxBytes: 100_000 }).catch(() => undefined))?.data.length).toBe(
      100_000,
    );
  });

  it.each<[string, Script]>([
    ['never answers', () => undefined],
    [
      'never ends',
      (_call, response) => {
        response.writeHead(200, { 'content-type': 'image/png' });
        response.write(PNG);
      },
    ],
  ])('gives up on a server that %s, and hangs up', async (_what, script) => {
    const error = await refusal(get(script, { timeoutMs: 100 }));
    expect(error.message).toMatch(/did not arrive within 0.1 seconds/);
    await server.calls[0]!.hungUp;
  });

  it('hangs up when the caller is gone', async () => {
    const aborter = new AbortController();
    server.script = () => aborter.abort();
    const options = { signal: aborter.signal, param: 'messages' };
    await expect(fetcher().fetch(server.origin, options)).rejects.toBeInstanceOf(CallAbortedError);
    await server.calls[0]!.hungUp;
  });

  it.each([
    'ftp://example.com/a.png',
    'file:///etc/passwd',
    's3://bucket/key',
    'javascript:alert(1)',
    'not a url',
    '',
    'http://user:password@example.com/a.png',
    'http://user@example.com/a.png',
  ])('rejects %j without a call', async (url) => {
    const error = await refusal(fetcher().fetch(url, { signal, param: 'messages' }));
    expect(error.message).not.toContain('password');
  });

  it('reaches no internal address, however it is written', async () => {
    server.script = answer({ 'content-type': 'image/png' });
    const { port } = new URL(server.origin);
    const strict = fetcher({
      allowPrivate: false,
      resolveName: (_hostname, _options, callback) =>
        callback(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.1',
      '0',
      '[::1]',
      '[::ffff:127.0.0.1]',
    ];
    for (const host of [...hosts, 'localhost', 'inside.example.com']) {
      const error = await refusal(
        strict.fetch(`http://${host}:${port}/`, { signal, param: 'messages' }),
      );
      expect(error.message).toMatch(/does not lead to a public address/);
    }
    expect(server.calls).toHaveLength(0);
  });
});
