import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import type { TranscriptionRequest, SpeechRequest } from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import type { HttpCall, HttpTransport } from '../transport/http-transport.js';
import type { UpstreamWork } from '../upstream.js';
import { FishAudioAdapter } from './fish-audio.adapter.js';

const KEY = 'fish-secret-key-1';
const PROVIDER: ProviderConfig = {
  id: 'fish-audio',
  name: 'Fish Audio',
  adapter: 'fish-audio',
  type: 'openai',
  baseUrl: 'https://vendor.test',
  apiKey: KEY,
  settings: {},
};
const ROUTE = {
  alias: 'fish-audio/s1',
  upstreamModel: 's1',
  limits: { firstByteMs: 1_000, idleMs: 1_000, requestMs: 1_000 },
  signal: new AbortController().signal,
};

/** Creates an adapter whose vendor returns the same answer to every call. */
function adapterFor(
  status: number,
  answer: unknown,
): { adapter: FishAudioAdapter; calls: HttpCall[] } {
  const calls: HttpCall[] = [];
  const bytes = Buffer.isBuffer(answer) ? answer : Buffer.from(JSON.stringify(answer));
  const transport = {
    call: async (call: HttpCall) => {
      calls.push(call);
      const type = Buffer.isBuffer(answer) ? 'audio/mpeg' : 'application/json';
      return Object.assign(Readable.from([bytes]), {
        status,
        headers: { 'content-type': type },
        readAll: async () => bytes,
        cancel: () => undefined,
        drain: () => undefined,
      });
    },
  } as unknown as HttpTransport;
  return { adapter: new FishAudioAdapter(PROVIDER, transport), calls };
}

const speech = (fields: Partial<SpeechRequest> = {}): SpeechRequest =>
  ({
    kind: 'speech',
    body: { value: { model: 'fish-audio/s1', input: 'Hi', voice: 'alloy' } },
    estimate: NO_USAGE,
    text: 'Hi',
    voice: 'alloy',
    instructions: undefined,
    format: 'mp3',
    speed: undefined,
    ...fields,
  }) as SpeechRequest;

const transcription = (fields: Partial<TranscriptionRequest> = {}): TranscriptionRequest =>
  ({
    kind: 'transcription',
    task: 'transcribe',
    body: { value: { model: 'fish-audio/transcribe-1' } },
    estimate: NO_USAGE,
    audio: {
      path: '/nowhere',
      sizeBytes: 10,
      fileName: 'a.wav',
      contentType: 'audio/wav',
      durationMs: 61_000,
    },
    format: 'json',
    timestampGranularities: [],
    ...fields,
  }) as TranscriptionRequest;

async function collect<Output>({ events }: UpstreamWork<Output>) {
  const all = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('FishAudioAdapter', () => {
  it("keeps the vendor's voices and replaces any other", async () => {
    const { adapter, calls } = adapterFor(200, Buffer.from('audio'));
    const voice = '802e3bc2b27e49c2995d23ef70e6ac89';
    const own = adapter.speak({ ...ROUTE, request: speech({ voice }) });
    const other = adapter.speak({ ...ROUTE, request: speech() });
    await collect(own);
    await collect(other);
    expect(own.droppedParams).toEqual([]);
    expect(other.droppedParams).toEqual(['voice']);
    const bodies = calls.map((call) => JSON.parse(call.body!.toString()) as object);
    expect(bodies).toEqual([
      { text: 'Hi', format: 'mp3', reference_id: voice },
      { text: 'Hi', format: 'mp3' },
    ]);
  });

  it.each<[Partial<SpeechRequest>, string]>([
    [{ format: 'aac' }, 'response_format'],
    [{ format: 'flac' }, 'response_format'],
    [{ speed: 0.4 }, 'speed'],
    [{ speed: 2.1 }, 'speed'],
  ])('reports %j as unsupported without a call', async (fields, param) => {
    const { adapter, calls } = adapterFor(200, Buffer.from('audio'));
    await expect(
      collect(adapter.speak({ ...ROUTE, request: speech(fields) })),
    ).rejects.toMatchObject({ failure: 'unsupported', param });
    expect(calls).toHaveLength(0);
  });

  it.each([
    [401, 'operator'],
    [402, 'operator'],
    [422, 'caller'],
    [429, 'rate_limited'],
    [503, 'server'],
  ])('classifies status %d as %s and redacts the key', async (status, failure) => {
    const { adapter } = adapterFor(status, { status, message: `Bad ${KEY}` });
    const failing = collect(adapter.speak({ ...ROUTE, request: speech() }));
    await expect(failing).rejects.toMatchObject({ failure });
    await expect(failing).rejects.not.toThrow(KEY);
  });

  it('does not mistake JSON for audio', async () => {
    const { adapter } = adapterFor(200, { message: 'sorry' });
    await expect(collect(adapter.speak({ ...ROUTE, request: speech() }))).rejects.toMatchObject({
      failure: 'unreadable',
    });
  });

  it.each([
    ['seconds', 60.5],
    ['milliseconds', 60_500],
  ])('reads a duration in %s', async (_unit, duration) => {
    const { adapter } = adapterFor(200, { text: 'Hi', duration, segments: [] });
    const events = await collect(adapter.transcribe({ ...ROUTE, request: transcription() }));
    expect(events.at(-1)).toMatchObject({ type: 'usage', usage: { audioMs: 60_500 } });
  });

  it('reads seconds when a file claims to be much shorter', async () => {
    const { adapter } = adapterFor(200, { text: 'Hi', duration: 3_600 });
    const audio = { ...transcription().audio, durationMs: 112_000 };
    const request = transcription({ audio });
    const events = await collect(adapter.transcribe({ ...ROUTE, request }));
    expect(events.at(-1)).toMatchObject({ type: 'usage', usage: { audioMs: 3_600_000 } });
  });

  it('uses the measured duration when the vendor reports none', async () => {
    const { adapter } = adapterFor(200, { text: 'Hi' });
    const events = await collect(adapter.transcribe({ ...ROUTE, request: transcription() }));
    expect(events.map((event) => event.type)).toEqual(['output']);
  });

  it('reports word timestamps as unsupported', async () => {
    const { adapter } = adapterFor(200, { text: 'Hi' });
    const request = transcription({ format: 'verbose_json', timestampGranularities: ['word'] });
    await expect(collect(adapter.transcribe({ ...ROUTE, request }))).rejects.toMatchObject({
      failure: 'unsupported',
      param: 'timestamp_granularities',
    });
  });
});
