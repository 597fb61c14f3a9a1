import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GenerateVideosOperation, GoogleGenAI } from '@google/genai';
import { OAuth2Client } from 'google-auth-library';
import { MediaFailedError, type MediaProgress } from '../../src/vendors/media-work.js';
import { HttpTransport } from '../../src/vendors/transport/http-transport.js';
import { MediaFetcher } from '../../src/vendors/transport/media-fetcher.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import {
  assertDone,
  imageRequest,
  mediaCall,
  readFiles,
  speechRequest,
  videoRequest,
} from '../support/media-requests.js';
import { reply, startScriptedServer, type ScriptedServer } from './scripted-server.js';
import { VERTEX } from './vendors/vertex.vendor.js';

const TOKEN = 'vertex-contract-token';
const PNG = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
const MP4 = Buffer.from('\0\0\0\x20ftypisom and more', 'latin1');
const IMAGEN = 'imagen-4.0-generate-001';
const VEO = 'veo-3.1-generate-001';
const GEMINI = 'gemini-3-pro-image';
const RESOURCE = `projects/my-project/locations/global/publishers/google/models/${VEO}`;
const NAME = `${RESOURCE}/operations/7d4a-11`;

describe('Vertex media', () => {
  let server: ScriptedServer;
  let transport: HttpTransport;
  let adapter: Upstream;
  let sdk: GoogleGenAI;

  beforeAll(async () => {
    server = await startScriptedServer((_call, response) => void response.destroy());
    transport = new HttpTransport(1_000);
    const mediaFetcher = new MediaFetcher({ allowPrivate: false });
    adapter = VERTEX.createAdapter(server.origin, { transport, mediaFetcher });
    const authClient = new OAuth2Client();
    authClient.setCredentials({ access_token: 'sdk-token', expiry_date: Date.now() + 3_600_000 });
    sdk = new GoogleGenAI({
      vertexai: true,
      project: 'my-project',
      location: 'global',
      apiVersion: 'v1',
      googleAuthOptions: { authClient },
      httpOptions: { baseUrl: server.origin },
    });
  });
  beforeEach(() => {
    server.calls.length = 0;
  });
  afterAll(async () => {
    await transport.onApplicationShutdown();
    await server.close();
  });

  const answerWith = (body: object, status = 200): void => {
    const headers = { 'content-type': 'application/json' };
    server.script = reply(status, headers, Buffer.from(JSON.stringify(body)));
  };
  const draw = (fields: Record<string, unknown> = {}, model = IMAGEN): Promise<MediaProgress> =>
    adapter.submitMedia!(mediaCall(imageRequest(fields), model));
  const film = (fields: Record<string, unknown> = {}): Promise<MediaProgress> =>
    adapter.submitMedia!(mediaCall(videoRequest(fields), VEO));
  const ask = (operation = `6:${NAME}`): Promise<MediaProgress> =>
    adapter.pollMedia!({ ...mediaCall(videoRequest(), VEO), operation });
  /** Checks that the two calls so far, ours and the official client's, are equal. */
  const expectSame = (): void => {
    const [ours, theirs] = server.calls.map(({ method, path, body }) => ({
      method,
      path,
      body: JSON.parse(body.toString()) as unknown,
    }));
    expect(ours).toEqual(theirs);
  };

  describe('predicted images', () => {
    it('are requested like the official client does', async () => {
      answerWith({
        predictions: [{ bytesBase64Encoded: PNG.toString('base64'), mimeType: 'image/png' }],
      });
      const done = assertDone(
        await draw({
          n: 2,
          size: '2048x2048',
          negative_prompt: 'dogs',
          output_format: 'jpeg',
          output_compression: 80,
          seed: 7,
          add_watermark: false,
        }),
      );
      // The client warns that this method is deprecated.
      jest.spyOn(console, 'warn').mockImplementationOnce(() => undefined);
      const theirs = await sdk.models.generateImages({
        model: IMAGEN,
        prompt: 'A cat',
        config: {
          numberOfImages: 2,
          aspectRatio: '1:1',
          imageSize: '2K',
          negativePrompt: 'dogs',
          outputMimeType: 'image/jpeg',
          outputCompressionQuality: 80,
          seed: 7,
          addWatermark: false,
          includeRaiReason: true,
        },
      });
      expectSame();
      expect(theirs.generatedImages?.[0]?.image?.imageBytes).toBe(PNG.toString('base64'));
      expect(await readFiles(done)).toEqual([PNG]);
      expect(done.usage).toMatchObject({ imageCount: 1 });
    });

    it('beyond the requested number are ignored', async () => {
      const picture = { bytesBase64Encoded: PNG.toString('base64') };
      answerWith({ predictions: [picture, picture, picture] });
      const { files, usage } = assertDone(await draw({ n: 2 }));
      expect([files.length, usage!.imageCount]).toEqual([2, 2]);
    });

    it('are counted without those that a filter withheld', async () => {
      answerWith({
        predictions: [
          { raiFilteredReason: 'No people. Support codes: 1' },
          { bytesBase64Encoded: PNG.toString('base64') },
        ],
      });
      const { files, usage } = assertDone(await draw({ n: 2 }));
      expect([files.length, files[0]!.contentType, usage!.imageCount]).toEqual([1, 'image/png', 1]);
    });

    it.each([
      ['with a reason', { predictions: [{ raiFilteredReason: 'No people.' }] }, /No people/],
      ['without one', {}, /filter/],
    ])('are rejected by the filter %s', async (_how, body, message) => {
      answerWith(body);
      const drawing = draw();
      await expect(drawing).rejects.toBeInstanceOf(MediaFailedError);
      await expect(drawing).rejects.toMatchObject({
        code: 'content_policy_violation',
        message: expect.stringMatching(message),
      });
    });
  });

  describe('images generated within an answer', () => {
    const answer = (candidate: object): object => ({
      candidates: [candidate],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1_120, totalTokenCount: 1_125 },
    });
    const inlineData = { mimeType: 'image/png', data: PNG.toString('base64') };

    it('are requested like the official client does', async () => {
      answerWith(
        answer({ content: { role: 'model', parts: [{ inlineData }] }, finishReason: 'STOP' }),
      );
      const done = assertDone(await draw({ size: '4K', aspect_ratio: '16:9' }, GEMINI));
      await sdk.models.generateContent({
        model: GEMINI,
        contents: 'A cat',
        config: {
          responseModalities: ['IMAGE'],
          imageConfig: { aspectRatio: '16:9', imageSize: '4K' },
        },
      });
      expectSame();
      expect(await readFiles(done)).toEqual([PNG]);
      expect(done.usage).toMatchObject({ imageCount: 1, inputTokens: 5, outputTokens: 1_120 });
    });

    it('come without drafts', async () => {
      const parts = [{ inlineData, thought: true }, { text: 'Here.' }, { inlineData }];
      answerWith(answer({ content: { parts }, finishReason: 'STOP' }));
      expect(assertDone(await draw({}, GEMINI)).files).toHaveLength(1);
    });

    it('are a single image, as requested', async () => {
      const parts = [{ inlineData }, { inlineData }];
      answerWith(answer({ content: { parts }, finishReason: 'STOP' }));
      const { files, usage } = assertDone(await draw({}, GEMINI));
      expect([files.length, usage!.imageCount]).toEqual([1, 1]);
    });

    it.each([
      [{ candidates: [{ finishReason: 'IMAGE_SAFETY', finishMessage: 'Unsafe.' }] }, /Unsafe/],
      [{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }, /PROHIBITED_CONTENT/],
    ])('are rejected by the filter: %j', async (body, message) => {
      answerWith(body);
      await expect(draw({}, GEMINI)).rejects.toMatchObject({
        code: 'content_policy_violation',
        message: expect.stringMatching(message),
      });
    });

    it('fail when there is only text, but not as filtered', async () => {
      answerWith(answer({ content: { parts: [{ text: 'No.' }] }, finishReason: 'STOP' }));
      await expect(draw({}, GEMINI)).rejects.toMatchObject({ code: 'provider_error' });
      answerWith({});
      await expect(draw({}, GEMINI)).rejects.toMatchObject({ failure: 'unreadable' });
    });
  });

  it.each<[Record<string, unknown>, string, string]>([
    [{ size: '1000x333' }, IMAGEN, 'size'],
    [{ size: '8000x8000' }, IMAGEN, 'size'],
    [{ size: '4K' }, IMAGEN, 'size'],
    [{ size: '2K' }, 'gemini-2.5-flash-image', 'size'],
    [{ aspect_ratio: '21:9' }, IMAGEN, 'aspect_ratio'],
    [{ output_format: 'webp' }, IMAGEN, 'output_format'],
    [{ n: 2 }, GEMINI, 'n'],
  ])('rejects an image with %j from %s without a call', async (fields, model, param) => {
    await expect(draw(fields, model)).rejects.toMatchObject({
      failure: 'unsupported',
      accepted: 'no',
      param,
    });
    expect(server.calls).toHaveLength(0);
  });

  it('names the fields that it drops', () => {
    const request = imageRequest({ quality: 'high', size: '1K', user: 'u', webhook_url: 'x' });
    expect(adapter.droppedMediaParams!(request, IMAGEN)).toEqual(['quality', 'user']);
    const seed = imageRequest({ seed: 1 });
    expect(adapter.droppedMediaParams!(seed, GEMINI)).toEqual(['seed']);
  });

  describe('videos', () => {
    it('are requested like the official client does', async () => {
      answerWith({ name: NAME });
      const submitted = await film({
        seconds: 6,
        size: '1080x1920',
        negative_prompt: 'dogs',
        generate_audio: false,
      });
      const theirs = await sdk.models.generateVideos({
        model: VEO,
        source: { prompt: 'A cat walks' },
        config: {
          numberOfVideos: 1,
          durationSeconds: 6,
          aspectRatio: '9:16',
          resolution: '1080p',
          negativePrompt: 'dogs',
          generateAudio: false,
        },
      });
      expectSame();
      expect(submitted).toEqual({ state: 'running', operation: `6:${theirs.name}` });
    });

    it('are polled like the official client does and billed by duration', async () => {
      const videos = [{ bytesBase64Encoded: MP4.toString('base64'), mimeType: 'video/mp4' }];
      answerWith({ name: NAME, done: true, response: { videos } });
      const done = assertDone(await ask());
      const operation = new GenerateVideosOperation();
      operation.name = NAME;
      const theirs = await sdk.operations.getVideosOperation({ operation });
      expectSame();
      expect(theirs.response?.generatedVideos?.[0]?.video?.videoBytes).toBe(MP4.toString('base64'));
      expect(await readFiles(done)).toEqual([MP4]);
      expect(done.files[0]!.contentType).toBe('video/mp4');
      expect(done.usage).toMatchObject({ videoSeconds: 6 });
    });

    it('are a single video, as requested', async () => {
      const video = { bytesBase64Encoded: MP4.toString('base64'), mimeType: 'video/mp4' };
      answerWith({ name: NAME, done: true, response: { videos: [video, video, video] } });
      const { files, usage } = assertDone(await ask());
      expect([files.length, usage!.videoSeconds]).toEqual([1, 6]);
    });

    it('are started by an answer with nothing but a name', async () => {
      answerWith({ name: NAME, more: 'x'.repeat(2_000_000) });
      await expect(film()).rejects.toMatchObject({ failure: 'unreadable' });
    });

    it('last eight seconds by default', async () => {
      answerWith({ name: NAME });
      expect(await film()).toMatchObject({ operation: `8:${NAME}` });
      expect(JSON.parse(server.calls[0]!.body.toString())).toMatchObject({
        parameters: { durationSeconds: 8 },
      });
    });

    it('may still be running', async () => {
      answerWith({ name: NAME });
      expect(await ask()).toEqual({ state: 'running', operation: `6:${NAME}` });
    });

    it.each<[object, string, RegExp]>([
      [{ error: { code: 13, message: 'Internal.' } }, 'internal', /Internal/],
      [
        { error: { code: 3, message: 'It violates our usage guidelines.' } },
        'content_policy_violation',
        /guidelines/,
      ],
      [
        { response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['No celebrities.'] } },
        'content_policy_violation',
        /No celebrities/,
      ],
      [
        { response: { videos: [{ gcsUri: 'gs://bucket/1.mp4' }] } },
        'provider_error',
        /no downloadable video/,
      ],
    ])('may have failed: %j', async (body, code, message) => {
      answerWith({ name: NAME, done: true, ...body });
      const asking = ask();
      await expect(asking).rejects.toBeInstanceOf(MediaFailedError);
      await expect(asking).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    });

    it.each([
      [400, 'INVALID_ARGUMENT', 'caller', 'no'],
      [401, 'UNAUTHENTICATED', 'operator', 'no'],
      [429, 'RESOURCE_EXHAUSTED', 'rate_limited', 'no'],
      [503, 'UNAVAILABLE', 'server', 'no'],
      [504, 'DEADLINE_EXCEEDED', 'timeout', 'unknown'],
    ])('are refused with %d', async (code, status, failure, accepted) => {
      answerWith({ error: { code, status, message: `No, ${TOKEN}.` } }, code);
      const filming = film();
      await expect(filming).rejects.toMatchObject({ failure, accepted });
      await expect(filming).rejects.not.toThrow(TOKEN);
      await expect(ask()).rejects.not.toBeInstanceOf(MediaFailedError);
      expect(server.calls).toHaveLength(2);
    });

    it.each(['image', 'last_frame', 'storage_uri', 'n'])(
      'are not created with %s',
      async (field) => {
        await expect(film({ [field]: 'x' })).rejects.toMatchObject({
          failure: 'unsupported',
          param: field,
        });
        expect(server.calls).toHaveLength(0);
      },
    );

    it.each(['', NAME, '6:https://elsewhere.test/operations/1', `6:projects/../../x/operations/1`])(
      'named %j are rejected',
      async (operation) => {
        await expect(ask(operation)).rejects.toMatchObject({ failure: 'operator' });
        expect(server.calls).toHaveLength(0);
      },
    );
  });

  it('does not offer speech', async () => {
    const speaking = adapter.submitMedia!(mediaCall(speechRequest('Hi'), GEMINI));
    await expect(speaking).rejects.toMatchObject({ failure: 'unsupported' });
  });
});
