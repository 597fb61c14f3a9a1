import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ElevenLabsAdapter } from '../../src/vendors/elevenlabs/elevenlabs.adapter.js';
import { FishAudioAdapter } from '../../src/vendors/fish-audio/fish-audio.adapter.js';
import { OpenAiAdapter } from '../../src/vendors/openai/openai.adapter.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import { assertDone, mediaCall, readFiles, speechRequest } from '../support/media-requests.js';
import { soundSeconds } from '../support/sound-seconds.js';
import { within } from '../support/within.js';
import { startScriptedServer, type ScriptedServer } from './scripted-server.js';

const KEY = 'key-of-the-contract-suite';
const SENTENCE = 'The quick brown fox jumps over the lazy dog, again and again. ';
/** Three calls of 4,096 characters at most. */
const TEXT = SENTENCE.repeat(180);
const FORMATS: [format: string, contentType: string][] = [
  ['mp3', 'audio/mpeg'],
  ['opus', 'audio/opus'],
  ['aac', 'audio/aac'],
  ['flac', 'audio/flac'],
  ['wav', 'audio/wav'],
];
/** Duration of the second fixture in seconds. */
const PIECE_SECONDS = 0.57;

const VENDORS: [string, string, (origin: string, transport: HttpTransport) => Upstream][] = [
  [
    'OpenAI',
    'tts-1',
    (origin, transport) =>
      new OpenAiAdapter(
        {
          id: 'openai',
          name: 'OpenAI',
          adapter: 'openai',
          type: 'openai',
          baseUrl: origin,
          apiKey: KEY,
          settings: {},
        },
        transport,
      ),
  ],
  [
    'Fish Audio',
    's1',
    (origin, transport) =>
      new FishAudioAdapter(
        {
          id: 'fish-audio',
          name: 'Fish Audio',
          adapter: 'fish-audio',
          type: 'openai',
          baseUrl: origin,
          apiKey: KEY,
          settings: {},
        },
        transport,
      ),
  ],
  [
    'ElevenLabs',
    'eleven_v3',
    (origin, transport) =>
      new ElevenLabsAdapter(
        {
          id: 'elevenlabs',
          name: 'ElevenLabs',
          adapter: 'elevenlabs',
          type: 'openai',
          baseUrl: origin,
          apiKey: KEY,
          settings: {},
        },
        transport,
      ),
  ],
];

describe.each(VENDORS)('speech of any length by %s', (_name, model, create) => {
  let server: ScriptedServer;
  let transport: HttpTransport;
  let adapter: Upstream;

  beforeAll(async () => {
    server = await startScriptedServer((_call, response) => void response.destroy());
    transport = new HttpTransport(1_000);
    adapter = create(server.origin, transport);
  });
  beforeEach(() => {
    server.calls.length = 0;
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await server.close();
  });

  const speak = async (fields: Record<string, unknown>, upstreamModel = model) =>
    assertDone(await adapter.submitMedia!(mediaCall(speechRequest(TEXT, fields), upstreamModel)));
  const fixture = (format: string): Promise<Buffer> =>
    readFile(new URL(`../fixtures/speech/piece-2.${format}`, import.meta.url));
  const sayPieces = async (format: string): Promise<void> => {
    const bytes = await fixture(format);
    server.script = (_call, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
    };
  };
  const texts = (): string[] =>
    server.calls.map(({ body }) => {
      const { input, text } = JSON.parse(body.toString()) as Record<string, string>;
      return (input ?? text)!;
    });
  it.each(FORMATS)('is a single file in %s', async (format, contentType) => {
    const takesFormat = model === 'tts-1' || !['aac', 'flac'].includes(format);
    await sayPieces(format);
    if (!takesFormat) {
      await expect(speak({ response_format: format })).rejects.toMatchObject({
        failure: 'unsupported',
        accepted: 'no',
      });
      return;
    }
    const done = await speak({ response_format: format });
    expect(server.calls).toHaveLength(1);
    expect(done.files.map((file) => file.contentType)).toEqual([contentType]);
    const [file] = await readFiles(done);
    const seconds = soundSeconds(format, file!);
    expect(seconds).toBeGreaterThan(3 * PIECE_SECONDS - 0.02);
    expect(seconds).toBeLessThan(3 * PIECE_SECONDS + 0.3);
    expect(texts().every((text) => text.length <= 4_096)).toBe(true);
    expect(texts().join(' ')).toBe(TEXT.trim());
    expect(done.usage).toBeUndefined();
  });

  it('sends only the fields of a speech call', async () => {
    await sayPieces('mp3');
    await readFiles(await speak({ webhook_url: 'https://x.test', metadata: { a: '1' } }));
    for (const { body } of server.calls) {
      expect(body.toString()).not.toMatch(/webhook_url|metadata|any\/model/);
    }
  });

  it('fails when its first call fails', async () => {
    server.script = (_call, response) => {
      response.writeHead(429, { 'content-type': 'application/json' }).end('{"message":"Wait."}');
    };
    await expect(speak({})).rejects.toMatchObject({ failure: 'rate_limited', accepted: 'no' });
    expect(server.calls).toHaveLength(1);
  });

  it('is no file when a later call fails, and is not requested again', async () => {
    const bytes = await fixture('mp3');
    server.script = (_call, response) => {
      if (server.calls.length === 2) response.writeHead(500).end();
      else response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(bytes);
    };
    await expect(readFiles(await speak({}))).rejects.toMatchObject({ failure: 'server' });
    expect(server.calls).toHaveLength(2);
  });

  it('is no file when a piece is something else', async () => {
    server.script = (_call, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(Buffer.alloc(5_000, 65));
    };
    await expect(readFiles(await speak({}))).rejects.toMatchObject({ failure: 'unreadable' });
  });

  it('is released before it is read', async () => {
    server.script = (_call, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(Buffer.alloc(1_000));
    };
    const { files } = await speak({});
    await files[0]!.bytes[Symbol.asyncIterator]().return?.();
    await within(30_000, server.calls[0]!.hungUp);
    expect(server.calls).toHaveLength(1);
  });

  it('is rejected without a call when it is blank', async () => {
    const call = mediaCall(speechRequest(' \n'), model);
    await expect(adapter.submitMedia!(call)).rejects.toMatchObject({ failure: 'caller' });
    expect(server.calls).toHaveLength(0);
  });

  if (model === 'tts-1') {
    it('is measured when a model is billed by duration', async () => {
      await sayPieces('wav');
      const done = await speak({ response_format: 'wav' }, 'gpt-4o-mini-tts');
      expect(done.usage).toBeUndefined();
      await readFiles(done);
      expect(done.usage?.audioMs).toBe(3 * PIECE_SECONDS * 1000);
      expect(done.usage?.inputCharacters).toBe(TEXT.length);
      expect(done.usageSource).toBe('estimated');
    });
  }
});
