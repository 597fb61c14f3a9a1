import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TranscriptionRequest } from '../../src/canonical/work-request.js';
import { NO_USAGE } from '../../src/canonical/usage.js';
import { FishAudioAdapter } from '../../src/vendors/fish-audio/fish-audio.adapter.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { mediaCall, readEvents, speechRequest } from '../support/media-requests.js';
import { within } from '../support/within.js';
import { reply, startScriptedServer, type Script, type ScriptedServer } from './scripted-server.js';

const KEY = 'fish-key-of-the-contract-suite';
const AUDIO = Buffer.alloc(50_000, 3);
const TRANSCRIPT = {
  text: 'Hello there.',
  duration: 1.5,
  segments: [{ text: 'Hello there.', start: 0, end: 1.5 }],
};

/** The vendor's failures and the expected outcome of each. */
const FAILURES: [status: number, body: unknown, failure: string, accepted: string][] = [
  [401, { status: 401, message: `Invalid Token ${KEY}` }, 'operator', 'no'],
  [402, { status: 402, message: 'Insufficient balance' }, 'operator', 'no'],
  [404, { status: 404, message: 'Model not found' }, 'operator', 'no'],
  [429, { status: 429, message: 'Too many requests' }, 'rate_limited', 'no'],
  [500, { status: 500, message: 'Internal error' }, 'server', 'no'],
  [503, '<html>unavailable</html>', 'server', 'no'],
];

describe('Fish Audio', () => {
  let server: ScriptedServer;
  let transport: HttpTransport;
  let adapter: FishAudioAdapter;
  let folder: string;
  let path: string;

  beforeAll(async () => {
    server = await startScriptedServer((_call, response) => void response.destroy());
    transport = new HttpTransport(1_000);
    const settings = {};
    const names = { id: 'fish-audio', name: 'Fish Audio', adapter: 'fish-audio' };
    adapter = new FishAudioAdapter(
      { ...names, type: 'openai', baseUrl: server.origin, apiKey: KEY, settings },
      transport,
    );
    folder = await mkdtemp(join(tmpdir(), 'fish-audio-'));
    path = join(folder, 'a.wav');
    await writeFile(path, AUDIO);
  });
  beforeEach(() => {
    server.calls.length = 0;
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await server.close();
    await rm(folder, { recursive: true });
  });

  const transcription = (fields: Partial<TranscriptionRequest> = {}): TranscriptionRequest => ({
    ...speechRequest(''),
    kind: 'transcription',
    task: 'transcribe',
    body: { value: { model: 'fish-audio/transcribe-1' } },
    audio: {
      path,
      sizeBytes: AUDIO.length,
      fileName: 'a.wav',
      contentType: 'audio/wav',
      durationMs: 1_600,
    },
    language: 'en',
    prompt: undefined,
    format: 'json',
    temperature: undefined,
    timestampGranularities: [],
    ...fields,
  });
  const speak = async (fields: Record<string, unknown> = {}): Promise<Buffer> => {
    const call = mediaCall(speechRequest('Hello there.', fields), 's1');
    const events = await readEvents(adapter.speak(call).events);
    return Buffer.concat(
      events.flatMap((event) => (event.type === 'output' ? [event.output.bytes] : [])),
    );
  };
  const transcribe = (fields: Partial<TranscriptionRequest> = {}) =>
    readEvents(adapter.transcribe(mediaCall(transcription(fields), 'transcribe-1')).events);
  const json = (status: number, body: unknown, headers: Record<string, string> = {}): Script => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return reply(status, { 'content-type': 'application/json', ...headers }, Buffer.from(text));
  };

  it('streams speech as bytes when they arrive', async () => {
    server.script = reply(200, { 'content-type': 'audio/mpeg' }, AUDIO);
    expect((await speak({ response_format: 'opus' })).equals(AUDIO)).toBe(true);
    const [call] = server.calls;
    expect([call!.method, call!.path]).toEqual(['POST', '/v1/tts']);
    expect(call!.headers).toMatchObject({ model: 's1', authorization: `Bearer ${KEY}` });
    expect(JSON.parse(call!.body.toString())).toEqual({ text: 'Hello there.', format: 'opus' });
  });

  it('transcribes audio and measures its duration', async () => {
    server.script = json(200, TRANSCRIPT);
    const events = await transcribe();
    expect(events).toContainEqual({ type: 'usage', usage: { ...NO_USAGE, audioMs: 1_500 } });
    const [call] = server.calls;
    expect([call!.method, call!.path]).toEqual(['POST', '/v1/asr']);
    const form = await new Response(new Uint8Array(call!.body), {
      headers: { 'content-type': call!.headers['content-type']! },
    }).formData();
    expect([form.get('language'), form.get('ignore_timestamps')]).toEqual(['en', 'true']);
    const file = form.get('audio') as File;
    expect([file.name, file.type, file.size]).toEqual(['a.wav', 'audio/wav', AUDIO.length]);
  });

  it('answers a probe from its wallet', async () => {
    server.script = json(200, { _id: 'x', user_id: 'y', credit: '10.0' });
    await adapter.probe(mediaCall(speechRequest(''), 's1'));
    const [call] = server.calls;
    expect([call!.method, call!.path]).toEqual(['GET', '/wallet/self/api-credit']);
    expect(call!.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  describe.each<[string, () => Promise<unknown>]>([
    ['speech', () => speak()],
    ['a transcript', () => transcribe()],
    ['a probe', () => adapter.probe(mediaCall(speechRequest(''), 's1'))],
  ])('refuses %s', (_what, ask) => {
    it.each(FAILURES)('with %d %j', async (status, body, failure, accepted) => {
      server.script = json(status, body);
      const asking = ask();
      await expect(asking).rejects.toMatchObject({ failure, status, accepted });
      await expect(asking).rejects.not.toThrow(KEY);
      expect(server.calls).toHaveLength(1);
    });

    it('with a rate limit', async () => {
      server.script = json(429, { status: 429, message: 'Wait.' }, { 'retry-after': '3' });
      await expect(ask()).rejects.toMatchObject({ failure: 'rate_limited', retryAfterMs: 3_000 });
    });

    it('by hanging up', async () => {
      server.script = (_call, response) => void response.destroy();
      await expect(ask()).rejects.toMatchObject({ failure: 'reset', accepted: 'unknown' });
    });
  });

  it.each([
    [[{ loc: ['body', 'text'], type: 'x', msg: 'Too long.' }], 'input', 'Too long.'],
    [[{ loc: ['body', 'temperature'], type: 'x', msg: 'Too hot.' }], 'temperature', 'Too hot.'],
    [{ status: 422, message: 'Nonsense.' }, undefined, 'Nonsense.'],
  ])('names the rejected field: %j', async (body, param, message) => {
    server.script = json(422, body);
    await expect(speak()).rejects.toMatchObject({ failure: 'caller', param, message });
  });

  it.each<[string, Script]>([
    ['nothing', reply(200, { 'content-type': 'audio/mpeg' }, Buffer.alloc(0))],
    ['a page', reply(200, { 'content-type': 'text/html' }, Buffer.from('<html>'))],
    ['a page called audio', reply(200, { 'content-type': 'audio/mpeg' }, Buffer.from(' <html>'))],
    ['JSON called audio', reply(200, { 'content-type': 'audio/mpeg' }, Buffer.from('{"error":1}'))],
    [
      'compressed data',
      reply(200, { 'content-type': 'audio/mpeg', 'content-encoding': 'gzip' }, AUDIO),
    ],
  ])('does not accept %s as speech', async (_what, script) => {
    server.script = script;
    await expect(speak()).rejects.toMatchObject({ failure: 'unreadable' });
  });

  it.each<[string, Script]>([
    ['nothing', reply(200, {}, Buffer.alloc(0))],
    ['{}', reply(200, {}, Buffer.from('{}'))],
    ['a list', reply(200, {}, Buffer.from('[]'))],
  ])('does not accept %s as a transcript', async (_what, script) => {
    server.script = script;
    await expect(transcribe()).rejects.toMatchObject({ failure: 'unreadable' });
  });

  it('notices interrupted speech and transcripts', async () => {
    server.script = (_call, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': '99999' });
      response.write(AUDIO.subarray(0, 100), () => response.destroy());
    };
    await expect(speak()).rejects.toMatchObject({ failure: 'reset' });
    await expect(transcribe()).rejects.toMatchObject({ failure: 'reset' });
  });

  it('is disconnected when no caller listens', async () => {
    server.script = (_call, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(AUDIO);
    };
    for await (const event of adapter.speak(mediaCall(speechRequest('Hi'), 's1')).events) {
      expect(event.type).toBe('output');
      break;
    }
    await within(30_000, server.calls[0]!.hungUp);
  });
});
