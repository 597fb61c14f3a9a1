import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  assertDone,
  imageRequest,
  mediaCall,
  readFiles,
  speechRequest,
  videoRequest,
} from '../../../test/support/media-requests.js';
import { SandboxAdapter } from './sandbox.adapter.js';
import { MediaFailedError, type MediaProgress } from '../media-work.js';
import { makeVideo } from './make-video.js';
import { makeImage } from './make-image.js';

const hasDecoder = spawnSync('ffmpeg', ['-version']).status === 0;
const withDecoder = hasDecoder ? it : it.skip;

/** Runs a real decoder on a file and returns the size of its frames and its complaints. */
function decode(file: Buffer): { size: number; complaints: string } {
  const options = ['-v', 'warning', '-i', '-', '-f', 'rawvideo', '-pix_fmt', 'gray', '-'];
  const { stdout, stderr } = spawnSync('ffmpeg', options, { input: file, maxBuffer: 1 << 28 });
  return { size: stdout.length, complaints: stderr.toString() };
}

const sandbox = new SandboxAdapter();

/** A clock that stands still unless set. */
let nowMs = Date.UTC(2026, 0, 1);

/** Polls twice a second until done, as any process could. */
async function awaited(progress: MediaProgress, upstreamModel = 'video') {
  let polls = 0;
  let current = progress;
  while (current.state === 'running') {
    nowMs += 500;
    const { operation } = current;
    current = await new SandboxAdapter().pollMedia({
      ...mediaCall(videoRequest(), upstreamModel),
      operation,
    });
    polls++;
  }
  return { done: current, polls };
}

describe('the sandbox', () => {
  beforeEach(() => void jest.spyOn(Date, 'now').mockImplementation(() => nowMs));
  afterEach(() => void jest.restoreAllMocks());

  it('draws as many distinct images as requested', async () => {
    const call = mediaCall(imageRequest({ n: 3, size: '640x360' }), 'image');
    const done = assertDone(await sandbox.submitMedia(call));
    const files = await readFiles(done);
    expect(done.usage).toMatchObject({ imageCount: 3 });
    expect(new Set(files.map((file) => file.toString('base64'))).size).toBe(3);
    for (const file of files) {
      expect([file.readUInt32BE(16), file.readUInt32BE(20)]).toEqual([640, 360]);
    }
    const again = await readFiles(assertDone(await sandbox.submitMedia(call)));
    expect(again).toEqual(files);
  });

  withDecoder('draws images that a decoder accepts', async () => {
    const file = await makeImage({ width: 301, height: 199, subject: 'x' });
    expect(decode(file)).toEqual({ size: 301 * 199, complaints: '' });
  });

  it('generates a video after a while, in any process', async () => {
    const call = mediaCall(videoRequest({ seconds: 3, size: '640x360' }), 'video');
    const submitted = await sandbox.submitMedia(call);
    expect(submitted).toMatchObject({ state: 'running', pollAfterMs: 300 });
    const { done, polls } = await awaited(submitted);
    expect(polls).toBeGreaterThan(1);
    expect(done.usage).toMatchObject({ videoSeconds: 3 });
    expect(done.files[0]?.contentType).toBe('video/mp4');
    const [file] = await readFiles(done);
    // Duration of the video, in milliseconds.
    expect(file!.readUInt32BE(file!.indexOf('mvhd') + 20)).toBe(3_000);
    const title = file!.toString('latin1').split('\u00a9nam')[1];
    expect(title).toContain('Sandbox film: A cat walks');
  });

  withDecoder('generates videos that a decoder plays', () => {
    const film = makeVideo({ seconds: 5, width: 1_280, height: 720, title: 'x' });
    const { size, complaints } = decode(film);
    expect(complaints).toBe('');
    expect(size).toBe(5 * 320 * 180);
  });

  it('speaks a long text in one file', async () => {
    const text = 'A sentence of some length. '.repeat(300);
    const done = assertDone(await sandbox.submitMedia(mediaCall(speechRequest(text), 'speech')));
    const [file] = await readFiles(done);
    expect(file!.readUInt32LE(40)).toBe(file!.length - 44);
    expect(done.usage?.audioMs).toBe(Math.ceil((file!.length - 44) / 48));
    expect(done.usage).toMatchObject({ inputCharacters: text.length });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['image', { n: 11 }, 'n'],
    ['image', { size: '9999x9999' }, 'size'],
    ['image', { size: 'large' }, 'size'],
    ['video', { seconds: 61 }, 'seconds'],
    ['video', { seconds: 1.5 }, 'seconds'],
    ['video', { size: 5 }, 'size'],
  ])('rejects %s with %j', async (kind, fields, param) => {
    const request = kind === 'image' ? imageRequest(fields) : videoRequest(fields);
    await expect(sandbox.submitMedia(mediaCall(request, kind))).rejects.toMatchObject({
      failure: 'caller',
      accepted: 'no',
      param,
    });
  });

  it.each([
    ['image-fault-500', { failure: 'server', accepted: 'no' }],
    ['image-fault-429', { failure: 'rate_limited', retryAfterMs: 1_000 }],
    ['image-fault-reset', { failure: 'reset', accepted: 'unknown' }],
    ['video-fault-400', { failure: 'caller', accepted: 'no' }],
  ])('simulates %s', async (model, expected) => {
    const request = model.startsWith('image') ? imageRequest() : videoRequest();
    await expect(sandbox.submitMedia(mediaCall(request, model))).rejects.toMatchObject(expected);
  });

  it.each([
    ['video-fault-failed', 'sandbox_fault'],
    ['video-fault-refused', 'content_policy_violation'],
  ])('simulates %s after the video was accepted', async (model, code) => {
    const submitted = await sandbox.submitMedia(mediaCall(videoRequest(), model));
    const failing = awaited(submitted, model);
    await expect(failing).rejects.toBeInstanceOf(MediaFailedError);
    await expect(failing).rejects.toMatchObject({ code });
  });

  it.each(['', 'film_', 'film_xyz', 'video_1'])('rejects the unknown id %j', async (operation) => {
    const asking = sandbox.pollMedia({ ...mediaCall(videoRequest(), 'video'), operation });
    await expect(asking).rejects.toMatchObject({ failure: 'operator' });
  });

  it('lists fields without effect', () => {
    const fields = { quality: 'high', size: '64x64', metadata: {}, user: 'u' };
    expect(sandbox.droppedMediaParams(imageRequest(fields))).toEqual(['quality', 'user']);
  });
});
