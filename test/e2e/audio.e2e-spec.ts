import { waveHeader } from '../../src/platform/audio/wave-file.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import { reply, startScriptedServer, type ScriptedServer } from '../contract/scripted-server.js';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { loggedRequest } from '../support/logged-request.js';
import { flacThatClaims, silentMp3, silentWave } from '../support/spoken-audio.js';
import { shortenGraces } from '../support/short-graces.js';
import { until } from '../support/until.js';
import { fakeDeepgram, fakeElevenLabs } from '../support/fake-speech-vendors.js';
import { filesOfUploads, form, wave } from '../support/uploads.js';

const json = (status: number, body: unknown) =>
  reply(status, { 'content-type': 'application/json' }, Buffer.from(JSON.stringify(body)));
const mp3 = reply(200, { 'content-type': 'audio/mpeg' }, silentMp3(40));

describe('audio', () => {
  let openAi: ScriptedServer;
  let fish: ScriptedServer;
  let eleven: ScriptedServer;
  let deepgram: ScriptedServer;
  let gateway: BootedGateway;
  let client: OpenAI;

  beforeAll(async () => {
    openAi = await startScriptedServer(mp3);
    fish = await startScriptedServer(mp3);
    eleven = await startScriptedServer(fakeElevenLabs('eleven-vendor-key-1').script);
    deepgram = await startScriptedServer(fakeDeepgram('deepgram-vendor-key-1').script);
    gateway = await bootGateway({
      OPENAI_API_KEY: 'sk-vendor-key-1',
      OPENAI_BASE_URL: `${openAi.origin}/v1`,
      FISH_AUDIO_API_KEY: 'fish-vendor-key-1',
      FISH_AUDIO_BASE_URL: fish.origin,
      ELEVENLABS_API_KEY: 'eleven-vendor-key-1',
      ELEVENLABS_BASE_URL: eleven.origin,
      DEEPGRAM_API_KEY: 'deepgram-vendor-key-1',
      DEEPGRAM_BASE_URL: deepgram.origin,
      GATEWAY_COOLDOWN_MS: '1',
      GATEWAY_BOOTSTRAP_CREDITS: '1000000000',
    });
    shortenGraces(gateway);
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.apiKey, maxRetries: 0 });
  });
  beforeEach(() => {
    openAi.script = mp3;
    fish.script = mp3;
    openAi.calls.length = 0;
    fish.calls.length = 0;
  });
  afterAll(async () => {
    await gateway.close();
    await openAi.close();
    await fish.close();
    await eleven.close();
    await deepgram.close();
  });

  const rowOf = (requestId: string | null) => loggedRequest(gateway.database, requestId);

  const uploadsLeft = () => filesOfUploads(gateway);
  const post = (body: FormData): Promise<Response> =>
    gateway.fetch('/v1/audio/transcriptions', { method: 'POST', body });
  const money = async (): Promise<number> => {
    const { rows } = await gateway.database.query<{ sum: number }>(
      'SELECT coalesce(sum(cost), 0)::bigint AS sum FROM request_logs',
    );
    return rows[0]!.sum;
  };

  describe('speech', () => {
    it('returns the bytes with their type; the vendor gets its own model id', async () => {
      const { response, data } = await client.audio.speech
        .create({ model: 'openai/tts-1', input: 'Hello', voice: 'alloy', speed: 1.5 })
        .withResponse();
      expect(Buffer.from(await data.arrayBuffer()).equals(silentMp3(40))).toBe(true);
      expect(response.headers.get('content-type')).toBe('audio/mpeg');
      expect(response.headers.get('x-gateway-provider')).toBe('openai');
      expect(openAi.calls[0]?.path).toBe('/v1/audio/speech');
      expect(JSON.parse(openAi.calls[0]!.body.toString())).toEqual({
        input: 'Hello',
        voice: 'alloy',
        speed: 1.5,
        model: 'tts-1',
        response_format: 'mp3',
      });
      const row = await rowOf(response.headers.get('x-request-id'));
      expect(row).toMatchObject({ outcome: 'completed', cost: 75, endpoint: 'audio.speech' });
    });

    it.each([
      ['openai/tts-1', 'abc', 45],
      ['openai/tts-1', '你好', 30],
      ['openai/tts-1', '👋🏽', 30],
      ['openai/tts-1-hd', '👋', 30],
      ['fish-audio/s1', 'abc', 22],
      ['fish-audio/s1', '你好', 43],
      ['fish-audio/speech-1.6', '👋', 29],
      ['elevenlabs/eleven_v3', 'abc', 540],
      ['elevenlabs/eleven_flash_v2_5', '你好 👋', 200],
      ['deepgram/aura-2', 'abc', 90],
      ['deepgram/aura', '👋', 15],
      ['sandbox/speech', '你好 👋', 4],
    ])('charges %s for %j exactly %d credits', async (model, input, cost) => {
      const response = await gateway.post('/api/v1/audio/speech', {
        model,
        input,
        voice: 'alloy',
        ...(model.startsWith('sandbox') && { response_format: 'pcm' }),
      });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
      expect((await rowOf(response.headers.get('x-request-id'))).cost).toBe(cost);
    });

    it('charges a model billed by duration for the generated audio', async () => {
      const second = Buffer.alloc(48_000);
      openAi.script = reply(200, { 'content-type': 'audio/pcm' }, second);
      const response = await gateway.post('/v1/audio/speech', {
        model: 'openai/gpt-4o-mini-tts',
        input: 'Good day',
        voice: 'alloy',
        response_format: 'pcm',
        instructions: 'Slow',
      });
      expect((await response.arrayBuffer()).byteLength).toBe(48_000);
      // 12 characters are 3 tokens (1.8 credits); a second of audio costs 250.
      expect((await rowOf(response.headers.get('x-request-id'))).cost).toBe(252);
      expect(JSON.parse(openAi.calls[0]!.body.toString())).toMatchObject({ instructions: 'Slow' });
    });

    it('measures compressed audio as well', async () => {
      const response = await gateway.post('/v1/audio/speech', {
        model: 'openai/gpt-4o-mini-tts',
        input: 'abcd',
        voice: 'alloy',
      });
      await response.arrayBuffer();
      // 40 frames of 1,152 samples at 44.1 kHz are 1,045 ms: 261.25 credits, and 0.6 for the text.
      const { cost } = await rowOf(response.headers.get('x-request-id'));
      expect(cost).toBeGreaterThanOrEqual(261);
      expect(cost).toBeLessThanOrEqual(263);
    });

    it('charges no more than the text can last, whatever a header claims', async () => {
      const minutes = waveHeader({ channels: 1, sampleRate: 1_000, bitsPerSample: 8 }, 100_000);
      const audio = Buffer.concat([minutes, Buffer.alloc(100_000)]);
      openAi.script = reply(200, { 'content-type': 'audio/wav' }, audio);
      const response = await gateway.post('/v1/audio/speech', {
        model: 'openai/gpt-4o-mini-tts',
        input: 'abcd',
        voice: 'alloy',
        response_format: 'wav',
      });
      expect((await response.arrayBuffer()).byteLength).toBe(audio.length);
      // Twice the longest duration of four letters, which is 5.6 s, plus a minute.
      expect((await rowOf(response.headers.get('x-request-id'))).cost).toBe(17_801);
    });

    it('falls back to the second vendor in its format, and names dropped fields', async () => {
      openAi.script = json(503, { error: { message: 'down' } });
      const response = await gateway.post('/v1/audio/speech', {
        model: 'openai/tts-1',
        input: '你好',
        voice: 'nova',
        speed: 2,
        response_format: 'pcm',
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-gateway-provider')).toBe('fish-audio');
      expect(response.headers.get('x-gateway-dropped-params')).toBe('voice');
      await response.arrayBuffer();
      const [call] = fish.calls;
      expect(call?.path).toBe('/v1/tts');
      expect(call?.headers).toMatchObject({
        model: 's1',
        authorization: 'Bearer fish-vendor-key-1',
      });
      expect(JSON.parse(call!.body.toString())).toEqual({
        text: '你好',
        format: 'pcm',
        sample_rate: 24_000,
        prosody: { speed: 2 },
      });
      expect(await rowOf(response.headers.get('x-request-id'))).toMatchObject({
        provider: 'fish-audio',
        cost: 43,
      });
    });

    it('sends the bytes as events on request', async () => {
      const response = await gateway.post('/v1/audio/speech', {
        model: 'openai/tts-1',
        input: 'Hello',
        voice: 'alloy',
        stream_format: 'sse',
      });
      expect(response.headers.get('content-type')).toContain('text/event-stream');
      const events = (await response.text())
        .split('\n\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line.slice(6)) as { type: string; audio?: string });
      expect(events.at(-1)?.type).toBe('speech.audio.done');
      const audio = events.slice(0, -1).map((event) => Buffer.from(event.audio!, 'base64'));
      expect(Buffer.concat(audio).equals(silentMp3(40))).toBe(true);
    });

    it('cuts the connection when the vendor’s stream is interrupted, and charges nothing', async () => {
      openAi.script = async (_call, response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.write(silentMp3(10));
        await wait(50);
        response.destroy();
      };
      const response = await gateway.post('/v1/audio/speech', {
        model: 'openai/tts-1',
        input: 'Hello',
        voice: 'alloy',
      });
      expect(response.status).toBe(200);
      await expect(response.arrayBuffer()).rejects.toThrow();
      expect(await rowOf(response.headers.get('x-request-id'))).toMatchObject({
        outcome: 'failed',
        cost: 0,
      });
    });

    it('ends the vendor’s call when the caller disconnects', async () => {
      openAi.script = (_call, response) => {
        response.writeHead(200, { 'content-type': 'audio/mpeg' });
        response.write(silentMp3(10));
      };
      const leaving = new AbortController();
      const response = await gateway.fetch('/v1/audio/speech', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'openai/tts-1', input: 'Hello', voice: 'alloy' }),
        signal: leaving.signal,
      });
      leaving.abort();
      await openAi.calls[0]!.hungUp;
      const row = await rowOf(response.headers.get('x-request-id'));
      expect(row).toMatchObject({ outcome: 'cancelled', cost: 75 });
    });

    it.each([
      ['no text', { voice: 'alloy' }, 'input'],
      ['an empty text', { input: '', voice: 'alloy' }, 'input'],
      ['a text of 10,001 characters', { input: 'x'.repeat(10_001), voice: 'alloy' }, 'input'],
      ['a number as the text', { input: 7, voice: 'alloy' }, 'input'],
      ['no voice', { input: 'Hello' }, 'voice'],
      ['a voice of the vendor account', { input: 'Hello', voice: { id: 'voice_1' } }, 'voice.id'],
      ['too low a speed', { input: 'Hello', voice: 'alloy', speed: 0.1 }, 'speed'],
      ['too high a speed', { input: 'Hello', voice: 'alloy', speed: 5 }, 'speed'],
      [
        'an unknown format',
        { input: 'Hello', voice: 'alloy', response_format: 'midi' },
        'response_format',
      ],
      [
        'an unknown stream format',
        { input: 'Hello', voice: 'alloy', stream_format: 'carrier' },
        'stream_format',
      ],
      [
        'a transcription model',
        { input: 'Hello', voice: 'alloy', model: 'openai/whisper-1' },
        'model',
      ],
      ['a model without its provider', { input: 'Hello', voice: 'alloy', model: 'tts-1' }, 'model'],
      [
        'more text than the model accepts',
        { input: 'x'.repeat(4_097), voice: 'alloy', model: 'openai/tts-1-hd' },
        'input',
      ],
    ])('rejects %s', async (_name, body, param) => {
      const before = await money();
      const response = await gateway.post('/v1/audio/speech', { model: 'openai/tts-1', ...body });
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: { param: string } };
      expect(error.param).toBe(param);
      expect(openAi.calls).toHaveLength(0);
      expect(await money()).toBe(before);
    });
  });

  describe('transcriptions', () => {
    const answer = { text: 'Good day.', usage: { type: 'duration', seconds: 3 } };
    const verbose = {
      task: 'transcribe',
      language: 'english',
      duration: 2.5,
      text: 'Good day.',
      segments: [{ id: 0, start: 0, end: 2.5, text: ' Good day.' }],
      usage: { type: 'duration', seconds: 3 },
    };

    it('transcribes what the sandbox spoke', async () => {
      const text = 'Hello, wörld! 你好 👋';
      for (const speed of [0.25, 1, 4]) {
        const speech = await client.audio.speech.create({
          model: 'sandbox/speech',
          input: text,
          voice: 'alloy',
          speed,
        });
        expect(speech.headers.get('content-type')).toBe('audio/wav');
        const file = await toFile(Buffer.from(await speech.arrayBuffer()), 'speech.wav');
        const transcript = await client.audio.transcriptions.create({
          model: 'sandbox/transcribe',
          file,
        });
        expect(transcript.text).toBe(text);
      }
      expect(await uploadsLeft()).toEqual([]);
    });

    it('sends the vendor the file and the fields, and bills its figure', async () => {
      openAi.script = json(200, answer);
      const bytes = silentWave(2_500);
      const { data, response } = await client.audio.transcriptions
        .create({
          file: await toFile(bytes, 'a.wav'),
          model: 'openai/whisper-1',
          language: 'en',
          prompt: 'Names: Ada',
          temperature: 0.2,
        })
        .withResponse();
      expect(data.text).toBe('Good day.');
      expect(response.headers.get('x-gateway-cost')).toBe('300');
      expect(response.headers.get('x-gateway-provider')).toBe('openai');
      const [call] = openAi.calls;
      expect(call?.headers['content-length']).toBe(String(call?.body.length));
      const sent = await new Response(new Uint8Array(call!.body), {
        headers: { 'content-type': call!.headers['content-type']! },
      }).formData();
      const file = sent.get('file') as File;
      expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
      expect(file.name).toBe('a.wav');
      sent.delete('file');
      expect(Object.fromEntries(sent)).toEqual({
        model: 'whisper-1',
        response_format: 'json',
        language: 'en',
        prompt: 'Names: Ada',
        temperature: '0.2',
      });
      expect(await uploadsLeft()).toEqual([]);
    });

    it.each([
      ['text', 'Good day.\n'],
      ['srt', '1\n00:00:00,000 --> 00:00:02,500\nGood day.\n\n'],
      ['vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nGood day.\n\n'],
    ])('renders %s from the verbose format, which includes the duration', async (format, text) => {
      openAi.script = json(200, verbose);
      const response = await post(
        form({ model: 'openai/whisper-1', response_format: format }, wave(100)),
      );
      expect(response.headers.get('content-type')).toContain('text/plain');
      expect(await response.text()).toBe(text);
      expect(response.headers.get('x-gateway-cost')).toBe('300');
      expect(openAi.calls[0]!.body.toString('latin1')).toContain('verbose_json');
    });

    const sse = (...events: object[]) => {
      const encoded = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
      return reply(200, { 'content-type': 'text/event-stream' }, Buffer.from(encoded));
    };
    const delta = (text: string) => ({ type: 'transcript.text.delta', delta: text });
    const done = { type: 'transcript.text.done', ...answer };
    const streamed = async (model: string, bytes = silentWave(2_500)) => {
      const { data, response } = await client.audio.transcriptions
        .create({ model, file: await toFile(bytes, 'a.wav'), stream: true })
        .withResponse();
      const events: object[] = [];
      for await (const event of data) events.push(event);
      return { events, row: await rowOf(response.headers.get('x-request-id')) };
    };

    it('charges the duration the vendor heard, even if the file claims less', async () => {
      openAi.script = json(200, { ...answer, usage: { type: 'duration', seconds: 60 } });
      // 60,000 bytes that claim to last a second at most.
      const { response } = await client.audio.transcriptions
        .create({
          file: await toFile(flacThatClaims(16_000, 60_000), 'a.flac'),
          model: 'openai/whisper-1',
        })
        .withResponse();
      expect(response.headers.get('x-gateway-cost')).toBe('6000');
    });

    it('relays the events of a streaming vendor, and bills its figure', async () => {
      openAi.script = sse(delta('Good'), delta(' day.'), done);
      const { events, row } = await streamed('openai/whisper-1');
      expect(events).toEqual([delta('Good'), delta(' day.'), done]);
      expect(openAi.calls[0]!.body.toString('latin1')).toMatch(/name="stream"\r\n\r\ntrue/);
      expect(row).toMatchObject({ outcome: 'completed', cost: 300 });
      expect(await uploadsLeft()).toEqual([]);
    });

    it('turns a whole answer into one delta and the end', async () => {
      openAi.script = json(200, answer);
      const { events, row } = await streamed('openai/whisper-1');
      expect(events).toEqual([delta('Good day.'), done]);
      expect(row).toMatchObject({ outcome: 'completed', cost: 300 });
      const sandbox = await streamed('sandbox/transcribe');
      expect(sandbox.events).toHaveLength(2);
      expect(sandbox.events[1]).toMatchObject({ type: 'transcript.text.done' });
    });

    it('reports a stream that has only comments, without waiting for its end', async () => {
      openAi.script = (_call, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(delta('Good'))}\n\n`);
        const comments = Buffer.alloc(1024 * 1024, ': still here\n\n');
        const more = (): void => {
          while (!response.destroyed && response.write(comments));
        };
        response.on('drain', more);
        more();
      };
      const streamed = await post(form({ model: 'openai/whisper-1', stream: 'true' }, wave(100)));
      expect(await streamed.text()).toContain('"type":"error"');
    });

    it('falls back from a stream that fails before it starts, and reports a later failure', async () => {
      openAi.script = sse({ type: 'error', error: { message: 'down', code: 'server_error' } });
      fish.script = json(200, { text: 'Good day.', duration: 2.5, segments: [] });
      const { events } = await streamed('openai/whisper-1');
      expect(events[0]).toEqual(delta('Good day.'));
      openAi.script = sse(delta('Good'));
      const fields = { model: 'openai/whisper-1', stream: 'true' };
      const cut = await (await post(form(fields, wave(100)))).text();
      expect(cut).toContain(JSON.stringify(delta('Good')));
      expect(cut).toContain('"type":"error"');
      expect(cut).not.toContain('transcript.text.done');
      expect(await uploadsLeft()).toEqual([]);
    });

    it('ends the vendor’s call when the reader of a stream disconnects, and charges for the audio', async () => {
      openAi.script = (_call, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify(delta('Good'))}\n\n`);
      };
      const leaving = new AbortController();
      const response = await gateway.fetch('/v1/audio/transcriptions', {
        method: 'POST',
        body: form({ model: 'openai/whisper-1', stream: 'true' }, wave(2_500)),
        signal: leaving.signal,
      });
      leaving.abort();
      await openAi.calls[0]!.hungUp;
      const row = await rowOf(response.headers.get('x-request-id'));
      expect(row).toMatchObject({ outcome: 'cancelled', cost: 250 });
      await until(async () => (await uploadsLeft()).length === 0);
    });

    it('distinguishes speakers where the vendor does', async () => {
      const segments = [
        { type: 'transcript.text.segment', id: 's', start: 0, end: 1, speaker: 'A' },
      ];
      openAi.script = json(200, { ...answer, task: 'transcribe', duration: 2.5, segments });
      const fields = { model: 'openai/whisper-1', response_format: 'diarized_json' };
      const reply = await post(form(fields, wave(100)));
      expect(await reply.json()).toMatchObject({ segments });
      expect(openAi.calls[0]!.body.toString('latin1')).toContain('diarized_json');
      for (const model of ['sandbox/transcribe', 'fish-audio/transcribe-1']) {
        const refused = await post(form({ ...fields, model }, wave(100)));
        expect([model, refused.status]).toEqual([model, 400]);
        expect(await refused.json()).toMatchObject({ error: { param: 'response_format' } });
      }
      expect(fish.calls).toEqual([]);
    });

    it.each([
      ['elevenlabs/scribe_v2', 'elevenlabs', 278],
      ['deepgram/nova-3', 'deepgram', 321],
      ['deepgram/nova-3-multilingual', 'deepgram', 384],
    ])('charges %s for the duration that the vendor heard', async (model, provider, cost) => {
      const file = await toFile(silentWave(2_500), 'a.wav');
      const { data, response } = await client.audio.transcriptions
        .create({
          model,
          file,
          response_format: 'verbose_json',
          timestamp_granularities: ['word', 'segment'],
        })
        .withResponse();
      expect(data).toMatchObject({ text: 'Hello there. Good day!', duration: 2.5 });
      expect(data.words).toHaveLength(4);
      expect(data.segments).toHaveLength(2);
      const row = await rowOf(response.headers.get('x-request-id'));
      expect(row).toMatchObject({ provider, cost, outcome: 'completed' });
    });

    it('names what a speech vendor does not support, and charges nothing', async () => {
      const before = await money();
      const refused = await gateway.post('/v1/audio/speech', {
        model: 'elevenlabs/eleven_v3',
        input: 'Hello',
        voice: 'alloy',
        response_format: 'flac',
      });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        error: {
          param: 'response_format',
          message: expect.stringContaining('mp3, opus, wav, pcm'),
        },
      });
      const voice = await gateway.post('/v1/audio/speech', {
        model: 'elevenlabs/eleven_v3',
        input: 'Hello',
        voice: 'Nobody',
      });
      expect(voice.status).toBe(400);
      expect(await voice.json()).toMatchObject({ error: { param: 'voice' } });
      expect(await money()).toBe(before);
    });

    it('translates where the vendor does, and nowhere else', async () => {
      openAi.script = json(200, answer);
      const file = await toFile(silentWave(2_500), 'a.wav');
      const ask = (model: string) => client.audio.translations.create({ model, file });
      const { data, response } = await ask('openai/whisper-1').withResponse();
      expect(data.text).toBe('Good day.');
      expect(openAi.calls[0]?.path).toBe('/v1/audio/translations');
      const row = await rowOf(response.headers.get('x-request-id'));
      expect(row).toMatchObject({
        outcome: 'completed',
        cost: 300,
        endpoint: 'audio.translations',
      });
      expect(typeof (await ask('sandbox/transcribe')).text).toBe('string');
      await expect(ask('fish-audio/transcribe-1')).rejects.toMatchObject({ status: 400 });
      expect(fish.calls).toEqual([]);
      for (const [param, value] of [
        ['language', 'en'],
        ['stream', 'true'],
      ] as const) {
        const body = form({ model: 'openai/whisper-1', [param]: value }, wave(9));
        const refused = await gateway.fetch('/v1/audio/translations', { method: 'POST', body });
        expect(refused.status).toBe(400);
        expect(await refused.json()).toMatchObject({ error: { param } });
      }
      expect(await uploadsLeft()).toEqual([]);
    });

    it('falls back to the second vendor with the same file', async () => {
      openAi.script = json(500, { error: { message: 'down' } });
      fish.script = json(200, {
        text: 'Good day.',
        duration: 2.5,
        segments: [{ start: 0, end: 2.5, text: 'Good day.' }],
      });
      const response = await post(
        form(
          {
            model: 'openai/whisper-1',
            response_format: 'verbose_json',
            language: 'en',
            temperature: '0',
          },
          wave(2_500),
        ),
      );
      expect(response.status).toBe(200);
      expect(response.headers.get('x-gateway-provider')).toBe('fish-audio');
      expect(response.headers.get('x-gateway-dropped-params')).toBe('temperature');
      expect(response.headers.get('x-gateway-cost')).toBe('250');
      expect(await response.json()).toMatchObject({
        text: 'Good day.',
        duration: 2.5,
        language: 'en',
        segments: [{ id: 0, start: 0, end: 2.5, text: 'Good day.' }],
      });
      const [call] = fish.calls;
      expect(call?.path).toBe('/v1/asr');
      expect(call!.body.includes(silentWave(2_500))).toBe(true);
      expect(call!.body.toString('latin1')).toMatch(/name="ignore_timestamps"\r\n\r\nfalse/);
      expect(await uploadsLeft()).toEqual([]);
    });

    it('accepts the form in any order, with preferences as JSON or in brackets', async () => {
      openAi.script = json(200, answer);
      fish.script = json(200, { text: 'Fish', duration: 1, segments: [] });
      const spellings: Record<string, string>[] = [
        { provider: '{"only":["fish-audio"]}' },
        { 'provider[only][]': 'fish-audio' },
      ];
      for (const fields of spellings) {
        for (const isFileFirst of [true, false]) {
          const data = form({ model: 'openai/whisper-1', ...fields });
          const sent = isFileFirst ? new FormData() : data;
          sent.append('file', wave(1_000), 'a.wav');
          if (isFileFirst) for (const [name, value] of data) sent.append(name, value);
          const response = await post(sent);
          expect(response.status).toBe(200);
          expect(await response.json()).toMatchObject({ text: 'Fish' });
        }
      }
    });

    const png = new Blob([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 0])]);
    it.each<[string, () => FormData, number, string]>([
      ['a field without a name', () => form({ '': 'x' }, wave(9)), 400, 'body'],
      ['a file without a name', () => form({}, wave(9), 'a.wav', ''), 400, 'body'],
      ['no file', () => form({ model: 'openai/whisper-1' }), 400, 'file'],
      ['no model', () => form({}, wave(100)), 400, 'model'],
      ['an empty file', () => form({ model: 'openai/whisper-1' }, new Blob([])), 400, 'file'],
      ['an image', () => form({ model: 'openai/whisper-1' }, png, 'a.png'), 400, 'file'],
      ['an image named mp3', () => form({ model: 'openai/whisper-1' }, png, 'a.mp3'), 400, 'file'],
      ['a wav named mp3', () => form({ model: 'openai/whisper-1' }, wave(9), 'a.mp3'), 400, 'file'],
      ['a text as the file', () => form({ model: 'openai/whisper-1', file: 'x' }), 400, 'file'],
      ['an empty wav', () => form({ model: 'openai/whisper-1' }, wave(0)), 400, 'file'],
      [
        'an unknown format',
        () => form({ model: 'openai/whisper-1', response_format: 'doc' }, wave(9)),
        400,
        'response_format',
      ],
      [
        'a bad temperature',
        () => form({ model: 'openai/whisper-1', temperature: 'hot' }, wave(9)),
        400,
        'temperature',
      ],
      [
        'a stream of subtitles',
        () => form({ model: 'openai/whisper-1', stream: 'true', response_format: 'srt' }, wave(9)),
        400,
        'stream',
      ],
      ['a chat model', () => form({ model: 'openai/gpt-4o-mini' }, wave(9)), 400, 'model'],
      [
        'timestamps without verbose_json',
        () => form({ model: 'openai/whisper-1', 'timestamp_granularities[]': 'word' }, wave(9)),
        400,
        'timestamp_granularities',
      ],
      [
        '26 MB',
        () => form({ model: 'openai/whisper-1' }, new Blob([new Uint8Array(26_000_000)])),
        413,
        'file',
      ],
      [
        '40 MB',
        () => form({ model: 'openai/whisper-1' }, new Blob([new Uint8Array(40_000_000)])),
        413,
        'file',
      ],
    ])('rejects %s', async (_name, make, status, param) => {
      const before = await money();
      const response = await post(make());
      const body = (await response.json()) as { error: { param: string } };
      expect([response.status, body.error.param]).toEqual([status, param]);
      expect(openAi.calls).toHaveLength(0);
      expect(await money()).toBe(before);
      expect(await uploadsLeft()).toEqual([]);
    });

    it('rejects a body that is not a form', async () => {
      const response = await gateway.post('/v1/audio/transcriptions', { model: 'x/y' });
      expect(response.status).toBe(415);
      const noBoundary = await gateway.post('/v1/audio/transcriptions', 'x', {
        'content-type': 'multipart/form-data',
      });
      expect(noBoundary.status).toBe(400);
      const torn = await gateway.post('/v1/audio/transcriptions', '--b\r\nx', {
        'content-type': 'multipart/form-data; boundary=b',
      });
      expect(torn.status).toBe(400);
      const ofOtherCharset = await gateway.fetch('/v1/audio/transcriptions', {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
        body: '--b\r\ncontent-disposition: form-data; name="model"\r\ncontent-type: text/plain; charset=foo\r\n\r\nx\r\n--b--\r\n',
      });
      expect(ofOtherCharset.status).toBe(400);
      expect(await ofOtherCharset.json()).toMatchObject({
        error: { param: 'model', message: expect.stringContaining('charset') },
      });
      expect(await uploadsLeft()).toEqual([]);
    });

    it('leaves nothing of an upload that stops halfway', async () => {
      const before = await money();
      const request = http.request(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${gateway.apiKey}`,
          'content-type': 'multipart/form-data; boundary=b',
        },
      });
      request.on('error', () => undefined);
      request.write(
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\nRIFF',
      );
      request.write(Buffer.alloc(200_000));
      await until(async () => (await uploadsLeft()).length > 0);
      request.destroy();
      await until(async () => (await uploadsLeft()).length === 0);
      expect(await money()).toBe(before);
      expect(openAi.calls).toHaveLength(0);
    });

    it('leaves nothing when the caller disconnects during the vendor’s work', async () => {
      openAi.script = () => undefined;
      const leaving = new AbortController();
      const left = gateway.fetch('/v1/audio/transcriptions', {
        method: 'POST',
        body: form({ model: 'openai/whisper-1' }, wave(1_000)),
        signal: leaving.signal,
      });
      left.catch(() => undefined);
      await until(() => openAi.calls.length > 0);
      leaving.abort();
      await openAi.calls[0]!.hungUp;
      await until(async () => (await uploadsLeft()).length === 0);
    });

    it('passes on the vendor’s error about the file', async () => {
      openAi.script = json(400, {
        error: { message: 'Audio too short.', type: 'invalid_request_error', param: 'file' },
      });
      const response = await post(form({ model: 'openai/whisper-1' }, wave(50)));
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { param: 'file', message: 'Audio too short.' },
      });
      expect(fish.calls).toHaveLength(0);
    });
  });
});
