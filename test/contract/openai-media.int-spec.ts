import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { OpenAiAdapter } from '../../src/vendors/openai/openai.adapter.js';
import { MediaFailedError, type MediaProgress } from '../../src/vendors/media-work.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import {
  assertDone,
  imageRequest,
  mediaCall,
  readBytes,
  readFiles,
  videoRequest,
} from '../support/media-requests.js';
import { USAGE, VIDEO } from '../support/openai-media-answers.js';
import { until } from '../support/until.js';
import { within } from '../support/within.js';
import { reply, startScriptedServer, type ScriptedServer } from './scripted-server.js';

const KEY = 'key-of-the-contract-suite';
const PNG = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
describe('OpenAI media', () => {
  let server: ScriptedServer;
  let transport: HttpTransport;
  let adapter: OpenAiAdapter;
  let sdk: OpenAI;

  beforeAll(async () => {
    server = await startScriptedServer((_call, response) => void response.destroy());
    transport = new HttpTransport(1_000);
    const provider = {
      id: 'openai',
      name: 'OpenAI',
      adapter: 'openai',
      type: 'openai',
      baseUrl: `${server.origin}/v1`,
      apiKey: KEY,
      settings: {},
    } as const;
    adapter = new OpenAiAdapter(provider, transport, new MediaFetcher({ allowPrivate: false }));
    sdk = new OpenAI({ baseURL: `${server.origin}/v1`, apiKey: KEY, maxRetries: 0 });
  });
  beforeEach(() => {
    server.calls.length = 0;
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await server.close();
  });

  const answer = (status: number, body: object, headers: Record<string, string> = {}): void => {
    const json = { 'content-type': 'application/json', ...headers };
    server.script = reply(status, json, Buffer.from(JSON.stringify(body)));
  };
  const draw = (fields: Record<string, unknown> = {}, model = 'gpt-image-1-mini') =>
    adapter.submitMedia(mediaCall(imageRequest(fields), model));
  const film = (fields: Record<string, unknown> = {}) =>
    adapter.submitMedia(mediaCall(videoRequest(fields), 'sora-2'));
  const ask = (operation = 'video_123'): Promise<MediaProgress> =>
    adapter.pollMedia({ ...mediaCall(videoRequest(), 'sora-2'), operation });
  const body = (index = 0): unknown => JSON.parse(server.calls[index]!.body.toString());
  /** Returns the fields of a form, from either client. */
  const form = async (index: number): Promise<Record<string, string>> => {
    const { headers, body: bytes } = server.calls[index]!;
    const response = new Response(new Uint8Array(bytes), {
      headers: { 'content-type': headers['content-type']! },
    });
    return Object.fromEntries(await response.formData()) as Record<string, string>;
  };

  describe('images', () => {
    it('are requested like the official client does', async () => {
      answer(200, { created: 1, data: [{ b64_json: PNG.toString('base64') }], usage: USAGE });
      const options = { size: '1024x1024', quality: 'high', background: 'opaque' } as const;
      await draw({ n: 2, ...options, output_format: 'webp', metadata: { a: '1' } });
      const theirs = await sdk.images.generate({
        model: 'gpt-image-1-mini',
        prompt: 'A cat',
        n: 2,
        ...options,
        output_format: 'webp',
      });
      expect(theirs.data?.[0]?.b64_json).toBe(PNG.toString('base64'));
      expect(theirs.usage).toEqual(USAGE);
      expect(body(0)).toEqual(body(1));
      expect(server.calls[0]!.path).toBe(server.calls[1]!.path);
      expect(server.calls[0]!.headers.authorization).toBe(`Bearer ${KEY}`);
    });

    it('are returned as files and counted', async () => {
      const image = { b64_json: PNG.toString('base64') };
      answer(200, { created: 1, data: [image, image], usage: USAGE });
      const done = assertDone(await draw({ n: 2 }));
      expect(done.files.map(({ contentType }) => contentType)).toEqual(['image/png', 'image/png']);
      expect(await readFiles(done)).toEqual([PNG, PNG]);
      expect(done.usage).toMatchObject({ imageCount: 2, inputTokens: 50, outputTokens: 4_160 });
    });

    it('beyond the requested number are neither fetched nor counted', async () => {
      const image = { b64_json: PNG.toString('base64') };
      answer(200, { created: 1, data: [image, image, { url: `${server.origin}/files/3.png` }] });
      const done = assertDone(await draw({ n: 1 }));
      expect(done.files).toHaveLength(1);
      expect(done.usage).toMatchObject({ imageCount: 1 });
      expect(server.calls).toHaveLength(1);
    });

    it('that are missing are not counted', async () => {
      const image = { b64_json: PNG.toString('base64') };
      answer(200, { created: 1, data: [{}, image, null, { b64_json: '', url: '' }, image] });
      const done = assertDone(await draw({ n: 5 }));
      expect(await readFiles(done)).toEqual([PNG, PNG]);
      expect(done.usage).toMatchObject({ imageCount: 2 });
    });

    it('of early models are requested as bytes', async () => {
      answer(200, { created: 1, data: [{ b64_json: PNG.toString('base64') }] });
      const done = assertDone(await draw({ style: 'vivid' }, 'dall-e-3'));
      expect(body()).toEqual({
        model: 'dall-e-3',
        prompt: 'A cat',
        n: 1,
        style: 'vivid',
        response_format: 'b64_json',
      });
      expect(done.usage).toMatchObject({ imageCount: 1, inputTokens: 0 });
    });

    it('on the server itself are fetched without the key', async () => {
      server.script = (call, response) => {
        const isFile = call.path === '/files/1.png';
        const url = `${server.origin}/files/1.png`;
        const answer = isFile ? PNG : JSON.stringify({ created: 1, data: [{ url }] });
        response.writeHead(200).end(answer);
      };
      expect(await readFiles(assertDone(await draw()))).toEqual([PNG]);
      expect(server.calls[1]!.headers.authorization).toBeUndefined();
    });

    it('inside the operator’s network are not fetched', async () => {
      answer(200, { created: 1, data: [{ url: 'http://127.0.0.1:9/secret.png' }] });
      await expect(draw()).rejects.toMatchObject({ failure: 'unreadable', accepted: 'unknown' });
    });

    it.each([
      [400, { code: 'moderation_blocked', type: 'image_generation_user_error' }, 'caller', 'no'],
      [400, { code: 'invalid_value', param: 'size' }, 'caller', 'no'],
      [401, { code: 'invalid_api_key' }, 'operator', 'no'],
      [429, { code: 'rate_limit_exceeded' }, 'rate_limited', 'no'],
      [429, { code: 'insufficient_quota' }, 'operator', 'no'],
      [500, {}, 'server', 'no'],
      [503, {}, 'server', 'no'],
      [502, {}, 'server', 'unknown'],
    ])('are rejected with %d %j', async (status, error, failure, accepted) => {
      answer(status, { error: { message: `No: ${KEY}.`, param: null, ...error } });
      const refused = draw();
      await expect(refused).rejects.toMatchObject({ failure, accepted, status });
      await expect(refused).rejects.not.toThrow(KEY);
      expect(server.calls).toHaveLength(1);
    });

    it('rejected by a filter report the vendor’s message and name the prompt', async () => {
      answer(400, { error: { message: 'Rejected by the safety system.', code: 'content_filter' } });
      await expect(draw()).rejects.toMatchObject({
        message: 'Rejected by the safety system.',
        param: 'prompt',
      });
    });

    it.each([
      ['no JSON', Buffer.from('<html>')],
      ['nothing', Buffer.alloc(0)],
      ['without images', Buffer.from('{"data":[]}')],
      ['an image without bytes', Buffer.from('{"data":[{}]}')],
      ['bytes that are not an image', Buffer.from('{"data":[{"b64_json":"aGVsbG8="}]}')],
    ])('that are %s cannot be read', async (_what, bytes) => {
      server.script = reply(200, {}, bytes);
      await expect(draw()).rejects.toMatchObject({ failure: 'unreadable', accepted: 'unknown' });
      expect(server.calls).toHaveLength(1);
    });

    it('may exist although the answer was interrupted', async () => {
      server.script = (_call, response) => void response.destroy();
      await expect(draw()).rejects.toMatchObject({ failure: 'reset', accepted: 'unknown' });
      server.script = (_call, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"data":', () => response.destroy());
      };
      await expect(draw()).rejects.toMatchObject({ failure: 'reset', accepted: 'unknown' });
      expect(server.calls).toHaveLength(2);
    });

    it('were certainly not created by an unreachable server', async () => {
      const unreachable = new OpenAiAdapter(
        {
          id: 'x',
          name: 'X',
          adapter: 'openai',
          type: 'openai',
          baseUrl: 'http://127.0.0.1:1/v1',
          apiKey: undefined,
          settings: {},
        },
        transport,
      );
      const asking = unreachable.submitMedia(mediaCall(imageRequest(), 'm'));
      await expect(asking).rejects.toMatchObject({ failure: 'connect', accepted: 'no' });
    });

    it.each(['image', 'mask', 'partial_images', 'svg', 'frame_count'])(
      'are rejected with %s without a call',
      async (field) => {
        await expect(draw({ [field]: 'x' })).rejects.toMatchObject({
          failure: 'unsupported',
          accepted: 'no',
          param: field,
        });
        await expect(draw({ output_format: 'svg' })).rejects.toMatchObject({
          param: 'output_format',
        });
        expect(server.calls).toHaveLength(0);
      },
    );

    it('are cancelled when no caller waits', async () => {
      server.script = () => undefined;
      const aborter = new AbortController();
      const call = { ...mediaCall(imageRequest(), 'gpt-image-1-mini'), signal: aborter.signal };
      const drawing = expect(adapter.submitMedia(call)).rejects.toThrow('aborted');
      await until(() => server.calls.length > 0);
      aborter.abort();
      await drawing;
      await within(30_000, server.calls[0]!.hungUp);
    });
  });

  describe('videos', () => {
    it('are requested like the official client does', async () => {
      answer(200, VIDEO, { 'openai-poll-after-ms': '5000' });
      const submitted = await film({ seconds: 8, size: '1280x720' });
      const theirs = await sdk.videos.create({
        model: 'sora-2',
        prompt: 'A cat walks',
        seconds: '8',
        size: '1280x720',
      });
      expect(submitted).toEqual({ state: 'running', operation: theirs.id, pollAfterMs: 5_000 });
      expect(await form(0)).toEqual(await form(1));
      expect(server.calls[0]!.path).toBe(server.calls[1]!.path);
    });

    it('are polled and fetched like the official client does', async () => {
      const bytes = Buffer.alloc(300_000, 7);
      server.script = (call, response) => {
        const isFile = call.path.endsWith('/content');
        response.writeHead(200, { 'content-type': isFile ? 'video/mp4' : 'application/json' });
        response.end(isFile ? bytes : JSON.stringify({ ...VIDEO, status: 'completed' }));
      };
      const done = assertDone(await ask());
      expect(done.files.map(({ contentType }) => contentType)).toEqual(['video/mp4']);
      expect((await readFiles(done))[0]!.equals(bytes)).toBe(true);
      expect(done.usage).toMatchObject({ videoSeconds: 8 });
      const ours = server.calls.map(({ method, path }) => [method, path]);
      server.calls.length = 0;
      await sdk.videos.retrieve('video_123');
      await (await sdk.videos.downloadContent('video_123')).arrayBuffer();
      expect(ours).toEqual(server.calls.map(({ method, path }) => [method, path]));
    });

    it.each(['queued', 'in_progress', 'something new'])(
      'are pending in status %s',
      async (status) => {
        answer(200, { ...VIDEO, status });
        expect(await ask()).toEqual({ state: 'running', operation: 'video_123' });
      },
    );

    it('fail with the vendor’s message', async () => {
      const error = { code: 'moderation_blocked', message: `Not this, ${KEY}.` };
      answer(200, { ...VIDEO, status: 'failed', error });
      const asking = ask();
      await expect(asking).rejects.toBeInstanceOf(MediaFailedError);
      await expect(asking).rejects.toMatchObject({
        code: 'moderation_blocked',
        message: 'Not this, [redacted].',
      });
    });

    it.each([500, 404, 429])('do not count as failed when polling fails (%d)', async (status) => {
      answer(status, { error: { message: 'Later.' } });
      await expect(ask()).rejects.not.toBeInstanceOf(MediaFailedError);
    });

    it('are incomplete when the download is interrupted', async () => {
      server.script = (call, response) => {
        if (!call.path.endsWith('/content')) {
          response.end(JSON.stringify({ ...VIDEO, status: 'completed' }));
          return;
        }
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '1000' });
        response.write(Buffer.alloc(10), () => response.destroy());
      };
      const done = assertDone(await ask());
      await expect(readFiles(done)).rejects.toMatchObject({ failure: 'reset' });
    });

    it('cannot be read when they are done but missing', async () => {
      server.script = (call, response) => {
        if (call.path.endsWith('/content')) response.writeHead(410).end(`No ${KEY}`);
        else response.end(JSON.stringify({ ...VIDEO, status: 'completed' }));
      };
      const reading = readFiles(assertDone(await ask()));
      await expect(reading).rejects.toMatchObject({ status: 410 });
      await expect(reading).rejects.not.toThrow(KEY);
    });

    it('close their connection when they are not read', async () => {
      server.script = (call, response) => {
        if (!call.path.endsWith('/content')) {
          response.end(JSON.stringify({ ...VIDEO, status: 'completed' }));
          return;
        }
        response.writeHead(200, { 'content-type': 'video/mp4' });
        response.write(Buffer.alloc(10));
      };
      const { files } = assertDone(await ask());
      await files[0]!.bytes[Symbol.asyncIterator]().return?.();
      await within(30_000, server.calls[1]!.hungUp);
    });

    it.each([
      ['a page', { 'content-type': 'text/html' }, Buffer.from('<html>')],
      ['nothing', { 'content-type': 'video/mp4' }, Buffer.alloc(0)],
      [
        'compressed',
        { 'content-type': 'video/mp4', 'content-encoding': 'br' },
        Buffer.from('a film'),
      ],
    ])('cannot be read when the download is %s', async (_what, headers, bytes) => {
      server.script = (call, response) => {
        const isFile = call.path.endsWith('/content');
        response.writeHead(200, isFile ? headers : { 'content-type': 'application/json' });
        response.end(isFile ? bytes : JSON.stringify({ ...VIDEO, status: 'completed' }));
      };
      const reading = ask().then((progress) => readBytes(assertDone(progress).files[0]!.bytes));
      await expect(reading).rejects.toMatchObject({ failure: 'unreadable' });
    });

    it('are deleted like the official client does, also twice', async () => {
      const call = { ...mediaCall(videoRequest(), 'sora-2'), operation: 'video_123' };
      answer(200, { id: 'video_123', object: 'video.deleted', deleted: true });
      await adapter.cancelMedia(call);
      await sdk.videos.delete('video_123');
      const [ours, theirs] = server.calls;
      expect([ours!.method, ours!.path]).toEqual([theirs!.method, theirs!.path]);
      answer(404, { error: { message: 'No such video.' } });
      await adapter.cancelMedia(call);
      answer(500, { error: { message: 'Later.' } });
      await expect(adapter.cancelMedia(call)).rejects.toMatchObject({ failure: 'server' });
    });

    it('are not created from other files, nor several at once', async () => {
      for (const [field, value] of [
        ['input_reference', { image_url: 'x' }],
        ['n', 2],
      ] as const) {
        await expect(film({ [field]: value })).rejects.toMatchObject({
          failure: 'unsupported',
          param: field,
        });
      }
      expect(server.calls).toHaveLength(0);
    });

    it('with ids that lead elsewhere are rejected', async () => {
      answer(200, { ...VIDEO, id: '../files' });
      await expect(film()).rejects.toMatchObject({ failure: 'unreadable', accepted: 'unknown' });
    });
  });
});
