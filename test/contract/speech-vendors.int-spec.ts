import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { SpeechRequest, TranscriptionRequest } from '../../src/canonical/work-request.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import { vendorOf } from '../../src/vendors/vendors.js';
import {
  fakeDeepgram,
  fakeElevenLabs,
  SPOKEN,
  type FakeSpeechVendor,
} from '../support/fake-speech-vendors.js';
import { mediaCall, readEvents, speechRequest } from '../support/media-requests.js';
import { silentWave } from '../support/spoken-audio.js';
import { within } from '../support/within.js';
import { reply, startScriptedServer, type ScriptedServer } from './scripted-server.js';

const KEY = 'key-of-the-contract-suite';
const LENGTH_MS = 2_600;

interface Case {
  vendor: string;
  fake: (key: string) => FakeSpeechVendor;
  voice: { speaks: string; hears: string; knows: string };
  formats: readonly string[];
  lacks: readonly string[];
  /** Its failures and the expected outcome of each. */
  failures: readonly [status: number, body: unknown, expected: object][];
}

const CASES: readonly Case[] = [
  {
    vendor: 'elevenlabs',
    fake: fakeElevenLabs,
    voice: { speaks: 'eleven_v3', hears: 'scribe_v2', knows: 'pNInz6obpgDQGcFmaJgB' },
    formats: ['mp3', 'opus', 'wav', 'pcm'],
    lacks: ['aac', 'flac'],
    failures: [
      [401, { detail: { status: 'invalid_api_key', message: KEY } }, { failure: 'operator' }],
      [401, { detail: { status: 'quota_exceeded', message: 'No.' } }, { failure: 'operator' }],
      [400, { detail: { status: 'quota_exceeded', message: 'No.' } }, { failure: 'operator' }],
      [402, { detail: { code: 'paid_plan_required', message: 'Pay.' } }, { failure: 'operator' }],
      [400, { detail: { status: 'model_not_found', message: 'No.' } }, { failure: 'operator' }],
      [
        404,
        { detail: { status: 'voice_not_found', message: 'No voice.' } },
        { failure: 'unsupported', param: 'voice' },
      ],
      [
        400,
        { detail: { status: 'max_character_limit_exceeded', message: 'Long.' } },
        { failure: 'context_length', param: 'input' },
      ],
      [
        422,
        { detail: [{ loc: ['body', 'text'], msg: 'Wrong.', type: 'x' }] },
        { failure: 'caller', param: 'input', message: 'Wrong.' },
      ],
      [
        400,
        { detail: { code: 'invalid_parameters', message: 'Odd.', param: 'language_code' } },
        { failure: 'caller', param: 'language', message: 'Odd.' },
      ],
      [429, { detail: { status: 'system_busy', message: 'Wait.' } }, { failure: 'rate_limited' }],
      [500, { detail: 'Oh' }, { failure: 'server' }],
      [503, '<html>away</html>', { failure: 'server' }],
    ],
  },
  {
    vendor: 'deepgram',
    fake: fakeDeepgram,
    voice: { speaks: 'aura-2', hears: 'nova-3', knows: 'thalia' },
    formats: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'],
    lacks: [],
    failures: [
      [401, { err_code: 'INVALID_AUTH', err_msg: KEY }, { failure: 'operator' }],
      [402, { err_code: 'ASR_PAYMENT_REQUIRED', err_msg: 'Pay.' }, { failure: 'operator' }],
      [403, { err_code: 'INSUFFICIENT_PERMISSIONS', err_msg: 'No.' }, { failure: 'operator' }],
      [
        400,
        { err_code: 'Bad Request', err_msg: 'No such model/language combination.' },
        { failure: 'unsupported', param: 'language' },
      ],
      [
        400,
        { err_code: 'Bad Request', err_msg: 'failed to process audio' },
        { failure: 'caller', message: 'failed to process audio' },
      ],
      [422, { category: 'X', message: 'Odd.' }, { failure: 'caller', message: 'Odd.' }],
      [413, { err_code: 'PAYLOAD_TOO_LARGE', err_msg: 'Long.' }, { failure: 'context_length' }],
      [429, { err_code: 'TOO_MANY_REQUESTS', err_msg: 'Wait.' }, { failure: 'rate_limited' }],
      [500, { category: 'INTERNAL', message: 'Oh' }, { failure: 'server' }],
      [504, '<html>away</html>', { failure: 'timeout' }],
    ],
  },
];

describe.each(CASES)('$vendor', ({ vendor, fake, voice, formats, lacks, failures }) => {
  let server: ScriptedServer;
  let transport: HttpTransport;
  let adapter: Upstream;
  let folder: string;
  let path: string;
  const audio = silentWave(LENGTH_MS);

  const adapterWith = (apiKey: string): Upstream => {
    const { id, name, type, createAdapter } = vendorOf(vendor)!;
    const provider = { id, name, type, adapter: id, baseUrl: server.origin, apiKey, settings: {} };
    return createAdapter(provider, {
      transport,
      mediaFetcher: new MediaFetcher({ allowPrivate: false }),
    });
  };

  beforeAll(async () => {
    server = await startScriptedServer((_call, response) => void response.destroy());
    transport = new HttpTransport(1_000);
    adapter = adapterWith(KEY);
    folder = await mkdtemp(join(tmpdir(), 'speech-'));
    path = join(folder, 'a.wav');
    await writeFile(path, audio);
  });
  beforeEach(() => {
    server.calls.length = 0;
    server.script = fake(KEY).script;
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await server.close();
    await rm(folder, { recursive: true });
  });

  const speechWork = (fields: Partial<SpeechRequest> = {}, text = 'Hello there.') =>
    adapter.speak!(mediaCall({ ...speechRequest(text), ...fields }, voice.speaks));
  const speak = async (fields: Partial<SpeechRequest> = {}, text?: string): Promise<Buffer> => {
    const events = await readEvents(speechWork(fields, text).events);
    return Buffer.concat(
      events.flatMap((event) => (event.type === 'output' ? [event.output.bytes] : [])),
    );
  };
  const transcribe = (fields: Partial<TranscriptionRequest> = {}, model = voice.hears) =>
    adapter.transcribe!(
      mediaCall(
        {
          ...speechRequest(''),
          kind: 'transcription',
          task: 'transcribe',
          body: { value: { model: 'any/model' } },
          audio: {
            path,
            sizeBytes: audio.length,
            fileName: 'a.wav',
            contentType: 'audio/wav',
            durationMs: LENGTH_MS,
          },
          language: undefined,
          prompt: undefined,
          format: 'json',
          temperature: undefined,
          timestampGranularities: [],
          ...fields,
        },
        model,
      ),
    );
  const transcript = async (fields: Partial<TranscriptionRequest> = {}): Promise<string> => {
    const [event] = await readEvents(transcribe(fields).events);
    if (event?.type !== 'output') throw new Error('no output');
    return event.output.bytes.toString();
  };

  it.each(formats)('speaks in %s, which it accepts as requested', async (format) => {
    expect((await speak({ format })).equals(SPOKEN)).toBe(true);
    expect(server.calls).toHaveLength(1);
  });

  it('lists its formats without a call', async () => {
    for (const format of lacks) {
      await expect(speak({ format })).rejects.toMatchObject({
        failure: 'unsupported',
        param: 'response_format',
        message: `This provider does not support ${format}; use ${formats.join(', ')}.`,
      });
    }
    expect(server.calls).toHaveLength(0);
  });

  it('maps OpenAI’s voices, accepts its own, and rejects invalid ones', async () => {
    for (const name of ['alloy', 'marin', 'verse', voice.knows]) {
      expect((await speak({ voice: name })).equals(SPOKEN)).toBe(true);
    }
    expect(server.calls.at(-1)!.path).toContain(voice.knows);
    for (const name of ['../../v1/user', 'Nobody?', 'a/b', 'x&model=y']) {
      await expect(speak({ voice: name })).rejects.toMatchObject({
        failure: 'unsupported',
        param: 'voice',
      });
    }
    expect(server.calls).toHaveLength(4);
  });

  it('speaks at the supported speeds', async () => {
    await speak({ speed: 1.2 });
    expect(`${server.calls[0]!.path}${server.calls[0]!.body.toString()}`).toContain('1.2');
    for (const speed of [0.6, 1.6]) {
      await expect(speak({ speed })).rejects.toMatchObject({ failure: 'unsupported' });
    }
    expect(server.calls).toHaveLength(1);
  });

  it('leaves a text that is too long for the model to other routes, without a call', async () => {
    await expect(speak({}, 'x'.repeat(5_001))).rejects.toMatchObject({
      failure: 'context_length',
      param: 'input',
    });
    expect(server.calls).toHaveLength(0);
  });

  it('names unsupported fields', () => {
    const body = { value: { model: 'm', input: 'Hi', voice: 'alloy', seed: 1, max_cost: 5 } };
    expect(speechWork({ body, instructions: 'Whisper.' }).droppedParams).toEqual([
      'seed',
      'instructions',
    ]);
    const request = { model: 'm', prompt: 'Names', language: 'en', diarize: true, hedge_ms: 9 };
    expect(transcribe({ body: { value: request } }).droppedParams).toEqual(['prompt', 'diarize']);
  });

  it('reports the audio duration that it counted', async () => {
    const events = await readEvents(transcribe().events);
    expect(events.map(({ type }) => type)).toEqual(['output', 'usage']);
    expect(events[1]).toMatchObject({ usage: { audioMs: LENGTH_MS, inputTokens: 0 } });
  });

  it('transcribes in every format', async () => {
    const text = 'Hello there. Good day!';
    const segments = [
      { id: 0, start: 0.1, end: 0.8, text: 'Hello there.' },
      { id: 1, start: 2.1, end: 2.5, text: 'Good day!' },
    ];
    expect(JSON.parse(await transcript())).toMatchObject({ text });
    expect(await transcript({ format: 'text' })).toBe(`${text}\n`);
    const verbose = JSON.parse(await transcript({ format: 'verbose_json' })) as object;
    expect(verbose).toMatchObject({ duration: 2.6, text });
    expect((verbose as { segments: object[] }).segments).toMatchObject(segments);
    expect(verbose).not.toHaveProperty('words');
    expect(await transcript({ format: 'srt' })).toBe(
      '1\n00:00:00,100 --> 00:00:00,800\nHello there.\n\n2\n00:00:02,100 --> 00:00:02,500\nGood day!\n\n',
    );
    expect(await transcript({ format: 'vtt' })).toMatch(/^WEBVTT\n\n00:00:00\.100 --> /);
  });

  it('returns timestamps of words on request', async () => {
    const fields = { format: 'verbose_json', timestampGranularities: ['word', 'segment'] };
    expect(JSON.parse(await transcript(fields))).toMatchObject({
      words: [
        { word: 'Hello', start: 0.1, end: 0.4 },
        { word: 'there.', start: 0.4, end: 0.8 },
        { word: 'Good', start: 2.1, end: 2.3 },
        { word: 'day!', start: 2.3, end: 2.5 },
      ],
    });
  });

  it('takes the language from the request or detects it', async () => {
    const languageOf = async (language: string | undefined): Promise<unknown> => {
      const result = await transcript({ format: 'verbose_json', language });
      return (JSON.parse(result) as { language: unknown }).language;
    };
    expect(await languageOf('de')).toBe('de');
    expect(await languageOf(undefined)).toMatch(/^en/);
  });

  it('returns no text for silence, and counts it', async () => {
    const silent = fake(KEY);
    silent.transcript = [];
    server.script = silent.script;
    expect(await transcript({ format: 'srt' })).toBe('');
    const events = await readEvents(transcribe().events);
    expect(events.at(-1)).toMatchObject({ usage: { audioMs: LENGTH_MS } });
  });

  it('translates nothing, and is not called for it', async () => {
    await expect(readEvents(transcribe({ task: 'translate' }).events)).rejects.toMatchObject({
      failure: 'unsupported',
    });
    expect(server.calls).toHaveLength(0);
  });

  it('answers a probe with a valid key', async () => {
    await adapter.probe(mediaCall(speechRequest(''), 'x'));
    const refused = adapterWith('another-key-1').probe(mediaCall(speechRequest(''), 'x'));
    await expect(refused).rejects.toMatchObject({ failure: 'operator' });
    await expect(refused).rejects.not.toThrow('another-key-1');
  });

  it.each(failures)('fails with %d %j', async (status, body, expected) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    server.script = reply(status, { 'content-type': 'application/json' }, Buffer.from(text));
    for (const working of [speak(), readEvents(transcribe().events)]) {
      await expect(working).rejects.toMatchObject({ status, ...expected });
      await expect(working).rejects.not.toThrow(KEY);
    }
    expect(server.calls).toHaveLength(2);
  });

  it('waits for the requested time', async () => {
    const headers = { 'content-type': 'application/json', 'retry-after': '3' };
    server.script = reply(429, headers, Buffer.from('{}'));
    await expect(speak()).rejects.toMatchObject({ retryAfterMs: 3_000 });
  });

  it('accepts neither an empty body nor a web page as an answer', async () => {
    server.script = reply(200, { 'content-type': 'text/html' }, Buffer.from('<html>'));
    await expect(speak()).rejects.toMatchObject({ failure: 'unreadable' });
    await expect(transcript()).rejects.toMatchObject({ failure: 'unreadable' });
    server.script = reply(200, { 'content-type': 'application/json' }, Buffer.from('{}'));
    await expect(transcript()).rejects.toMatchObject({ failure: 'unreadable' });
  });

  it('notices interrupted answers', async () => {
    server.script = (_call, response) => {
      response.writeHead(200, { 'content-length': '99999' });
      response.write(SPOKEN.subarray(0, 100), () => response.destroy());
    };
    await expect(speak()).rejects.toMatchObject({ failure: 'reset' });
    await expect(transcript()).rejects.toMatchObject({ failure: 'reset' });
  });

  it('is disconnected when no caller listens', async () => {
    server.script = (_call, response) => {
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      response.write(SPOKEN);
    };
    for await (const event of speechWork().events) {
      expect(event.type).toBe('output');
      break;
    }
    await within(30_000, server.calls[0]!.hungUp);
  });

  if (vendor === 'elevenlabs') {
    it('distinguishes speakers', async () => {
      expect(JSON.parse(await transcript({ format: 'diarized_json' }))).toMatchObject({
        task: 'transcribe',
        duration: 2.6,
        segments: [
          { type: 'transcript.text.segment', text: 'Hello there.', speaker: 'speaker_0' },
          { type: 'transcript.text.segment', text: 'Good day!', speaker: 'speaker_1' },
        ],
      });
    });

    it('counts the models in its list', async () => {
      const call = { ...mediaCall(speechRequest(''), 'x'), readsAnswer: true };
      expect(await adapter.probe(call)).toBe(3);
    });
  } else {
    it('does not distinguish speakers, which costs extra', async () => {
      await expect(transcript({ format: 'diarized_json' })).rejects.toMatchObject({
        param: 'response_format',
      });
    });

    it('recognizes several languages only with the model that has a price for it', async () => {
      await expect(transcript({ language: 'multi' })).rejects.toMatchObject({ param: 'language' });
      expect(server.calls).toHaveLength(0);
      await readEvents(transcribe({ language: 'de' }, 'nova-3:multi').events);
      expect(server.calls[0]!.path).toBe(
        '/v1/listen?model=nova-3&smart_format=true&language=multi',
      );
    });

    it('keeps a voice with the generation that has the price', async () => {
      await speak({ voice: 'aura-2-celeste-es' });
      expect(server.calls[0]!.path).toContain('model=aura-2-celeste-es&');
      await expect(speak({ voice: 'aura-asteria-en' })).rejects.toMatchObject({ param: 'voice' });
    });
  }
});

it.each([
  ['elevenlabs', { text: 'Hi', words: [], audio_duration_secs: 0 }],
  [
    'deepgram',
    {
      metadata: { duration: 0 },
      results: { channels: [{ alternatives: [{ transcript: 'Hi' }] }] },
    },
  ],
])('uses the measured duration where %s reports none', async (vendor, body) => {
  const server = await startScriptedServer(
    reply(200, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(body))),
  );
  const transport = new HttpTransport(1_000);
  const { id, name, type, createAdapter } = vendorOf(vendor)!;
  const provider = {
    id,
    name,
    type,
    adapter: id,
    baseUrl: server.origin,
    apiKey: KEY,
    settings: {},
  };
  const mediaFetcher = new MediaFetcher({ allowPrivate: false });
  const file = { path: '/dev/null', sizeBytes: 0, fileName: 'a.wav', contentType: 'audio/wav' };
  const { events } = createAdapter(provider, { transport, mediaFetcher }).transcribe!(
    mediaCall(
      {
        ...speechRequest(''),
        kind: 'transcription',
        task: 'transcribe',
        audio: { ...file, durationMs: 900 },
        language: undefined,
        prompt: undefined,
        format: 'json',
        temperature: undefined,
        timestampGranularities: [],
      },
      'any',
    ),
  );
  const types: string[] = [];
  for await (const event of events) types.push(event.type);
  expect(types).toEqual(['output']);
  await transport.onApplicationShutdown();
  await server.close();
});
