import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { processorMsOf } from '../../../test/support/processor-ms.js';
import {
  flacThatClaims,
  mp4Box,
  mp4Numbers,
  mp4ThatClaims,
  silentMp3,
  webmElement,
  webmOf,
} from '../../../test/support/spoken-audio.js';
import type { UploadedAudio } from '../../canonical/work-request.js';
import { waveHeader } from '../../platform/audio/wave-file.js';
import { identifyAudio } from './identify-audio.js';

/** Byte offsets of fields in a plain WAV header. */
const TAG = 20;
const CHANNELS = 22;
const SAMPLE_RATE = 24;
const BYTE_RATE = 28;
const BLOCK_ALIGN = 32;
const BITS = 34;
const DATA_BYTES = 40;

/** Ten seconds of silence, 8 kHz mono. */
function wave(bitsPerSample = 16): Buffer {
  const samples = Buffer.alloc((10 * 8_000 * bitsPerSample) / 8);
  const header = waveHeader({ channels: 1, sampleRate: 8_000, bitsPerSample }, samples.length);
  return Buffer.concat([header, samples]);
}

/** A metadata chunk that may follow the samples, or sit between them. */
const titles = Buffer.alloc(20_008);
titles.write('LIST');
titles.writeUInt32LE(20_000, 4);

function forged(write: (file: Buffer) => void, file = wave()): Buffer {
  write(file);
  return file;
}

/** An MP3 whose first frame states how many frames follow. */
function mp3ThatClaims(frames: number, ...others: Buffer[]): Buffer {
  const table = silentMp3(1);
  table.write('Xing', 21, 'latin1');
  table.writeUInt32BE(1, 25);
  table.writeUInt32BE(frames, 29);
  return Buffer.concat([table, ...others]);
}

const spoken = (name: string): Promise<Buffer> =>
  readFile(new URL(`../../../test/fixtures/speech/${name}`, import.meta.url));

/** A file that states the length of its first piece, with its sound repeated `times` more. */
async function withRepeatedSound(name: string, soundAt: number, times: number): Promise<Buffer> {
  const file = await spoken(name);
  return Buffer.concat([file, ...Array.from({ length: times }, () => file.subarray(soundAt))]);
}

describe(identifyAudio.name, () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'identify-audio-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  async function identify(fileName: string, bytes: Buffer): Promise<UploadedAudio> {
    const path = join(folder, 'upload');
    await writeFile(path, bytes);
    return identifyAudio({ field: 'file', path, sizeBytes: bytes.length, fileName });
  }

  async function lengthOf(fileName: string, bytes: Buffer): Promise<number | undefined> {
    return (await identify(fileName, bytes)).durationMs;
  }

  it.each<[string, Buffer]>([
    ['plain', wave()],
    ['8 bits', wave(8)],
    ['24 bits', wave(24)],
    ['with a huge byte rate', forged((file) => file.writeUInt32LE(0xffff_ffff, BYTE_RATE))],
    ['without a byte rate', forged((file) => file.writeUInt32LE(0, BYTE_RATE))],
    ['without a block size', forged((file) => file.writeUInt16LE(0, BLOCK_ALIGN))],
    ['with a huge block size', forged((file) => file.writeUInt16LE(0xffff, BLOCK_ALIGN))],
    ['without a data size', forged((file) => file.writeUInt32LE(0, DATA_BYTES))],
    ['with the data size of streams', forged((file) => file.writeUInt32LE(2 ** 32 - 1, 40))],
  ])('measures WAV by its samples: %s', async (_name, file) => {
    expect(await lengthOf('a.wav', file)).toBe(10_000);
  });

  it('measures WAV with packed samples by their unpacked length', async () => {
    const ulaw = forged((file) => file.writeUInt16LE(7, TAG), wave(8));
    expect(await lengthOf('a.wav', ulaw)).toBe(10_000);
    const adpcm = forged((file) => file.writeUInt16LE(0x11, TAG), wave(8));
    expect(await lengthOf('a.wav', adpcm)).toBe(20_000);
  });

  it('counts the bytes after a data size that is too small', async () => {
    const samples = Buffer.alloc(4_000_000);
    const header = waveHeader({ channels: 1, sampleRate: 8_000, bitsPerSample: 16 }, 16);
    const length = await lengthOf('a.wav', Buffer.concat([header, samples]));
    // All but one megabyte, which may be metadata.
    expect(length).toBeGreaterThan(180_000);
    expect(length).toBeLessThanOrEqual(250_000);
  });

  it('ignores metadata after the samples', async () => {
    const file = Buffer.concat([wave(), Buffer.from('LIST\x04\0\0\0INFO', 'latin1')]);
    expect(await lengthOf('a.wav', file)).toBe(10_000);
  });

  it.each<[string, (file: Buffer) => void]>([
    ['one sample a second', (file) => file.writeUInt32LE(1, SAMPLE_RATE)],
    ['4 billion samples a second', (file) => file.writeUInt32LE(4_000_000_000, SAMPLE_RATE)],
    ['no channels', (file) => file.writeUInt16LE(0, CHANNELS)],
    ['thousands of channels', (file) => file.writeUInt16LE(0xffff, CHANNELS)],
    ['samples without bits', (file) => file.writeUInt16LE(0, BITS)],
    ['samples of 65,535 bits', (file) => file.writeUInt16LE(0xffff, BITS)],
    ['an unknown codec', (file) => file.writeUInt16LE(0x4242, TAG)],
  ])('rejects WAV with %s', async (_name, write) => {
    await expect(lengthOf('a.wav', forged(write))).rejects.toMatchObject({
      status: 400,
      param: 'file',
    });
  });

  const FRAME_MS = (1_152 * 1_000) / 44_100;

  it.each<[string, Buffer]>([
    ['plain', silentMp3(4_000)],
    ['with a table that states 10', mp3ThatClaims(10, silentMp3(4_000))],
    ['with a table that states 4 billion', mp3ThatClaims(4_000_000_000, silentMp3(4_000))],
    [
      'with garbage between them',
      Buffer.concat(Array.from({ length: 4_000 }, () => [silentMp3(1), Buffer.from('!')]).flat()),
    ],
  ])('measures MP3 by its frames: %s', async (_name, file) => {
    const length = (await lengthOf('a.mp3', file))!;
    expect(Math.abs(length - 4_000 * FRAME_MS)).toBeLessThan(2);
  });

  it('marks the length as claimed when another format follows an MP3 tag', async () => {
    const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0]);
    const flac = await withRepeatedSound('piece-1.flac', 8_288, 9);
    expect(await identify('a.mp3', Buffer.concat([tag, silentMp3(1), flac]))).toMatchObject({
      isLengthClaimed: true,
    });
  });

  it('skips a picture before MP3 frames', async () => {
    const picture = Buffer.alloc(400_000, Buffer.from([0xff, 0xfb, 0x90, 0xc0]));
    const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0x18, 0x35, 0]);
    expect((tag[7]! << 14) | (tag[8]! << 7) | tag[9]!).toBe(400_000);
    const file = Buffer.concat([tag, picture, silentMp3(100)]);
    expect(Math.abs((await lengthOf('a.mp3', file))! - 100 * FRAME_MS)).toBeLessThan(2);
  });

  it('counts the frames inside an apparent tag between frames', async () => {
    const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0x18, 0x35, 0]);
    const file = Buffer.concat([silentMp3(1), tag, silentMp3(999)]);
    expect(Math.abs((await lengthOf('a.mp3', file))! - 1_000 * FRAME_MS)).toBeLessThan(2);
  });

  it('marks the length of Ogg as claimed when not every stream is Opus', async () => {
    const file = await spoken('piece-1.opus');
    const other = Buffer.from(file.subarray(0, 47));
    other.write('\x01vorbis', 28, 'latin1');
    const { isLengthClaimed } = await identify('a.ogg', Buffer.concat([file, other]));
    expect(isLengthClaimed).toBe(true);
  });

  it('measures FLAC as at least the playing time of its bytes', async () => {
    // States one second; unpacked audio has 32,000 bytes a second.
    const length = (await lengthOf('a.flac', flacThatClaims(16_000, 3_200_000)))!;
    expect(length).toBeGreaterThan(90_000);
    expect(length).toBeLessThan(101_000);
    expect(await lengthOf('a.flac', flacThatClaims(160_000, 200_000))).toBe(10_000);
  });

  it.each([
    ['piece-1.opus', 137],
    ['piece-1.flac', 8_288],
  ])('measures %s by its sound, whatever length it states', async (name, soundAt) => {
    const once = await identify(name, await spoken(name));
    expect(once).toMatchObject({ isLengthClaimed: false });
    expect(Math.abs(once.durationMs! - 470)).toBeLessThan(30);
    const often = await identify(name, await withRepeatedSound(name, soundAt, 99));
    expect(often.isLengthClaimed).toBe(false);
    expect(often.durationMs).toBeGreaterThan(45_000);
    expect(often.durationMs).toBeLessThan(52_000);
  });

  /** A header that states one second; packets hold 60 ms of Opus. */
  const second = webmElement('4489', Buffer.from('447a0000', 'hex'));
  const cluster = (time: number, packets: number): Buffer =>
    webmElement(
      '1f43b675',
      webmElement('e7', Buffer.from([time >> 8, time & 255])),
      ...Array.from({ length: packets }, () =>
        webmElement('a3', Buffer.from('810000801800', 'hex')),
      ),
    );
  const fragment = (...numbers: number[]): Buffer =>
    mp4Box(
      'moof',
      mp4Box('traf', mp4Box('tfhd', mp4Numbers(0, 1)), mp4Box('trun', mp4Numbers(...numbers))),
    );

  it.each<[string, Buffer, number]>([
    ['a.webm', webmOf(second), 1_000],
    ['a.webm', webmOf(second, cluster(0, 100)), 6_000],
    ['a.webm', webmOf(Buffer.alloc(0), cluster(9_000, 1)), 9_000],
    ['a.m4a', mp4ThatClaims(1_000, []), 1_000],
    ['a.m4a', mp4ThatClaims(1_000, [mp4Box('stsz', mp4Numbers(0, 6, 500))]), 32_000],
    ['a.m4a', mp4ThatClaims(1_000, [mp4Box('stts', mp4Numbers(0, 2, 9, 500, 1, 500))]), 5_000],
    ['a.m4a', Buffer.concat([mp4ThatClaims(0, []), fragment(0x100, 2, 2_000, 3_000)]), 5_000],
    [
      'a.m4a',
      Buffer.concat([
        mp4ThatClaims(0, [], mp4Box('mvex', mp4Box('trex', mp4Numbers(0, 1, 1, 70)))),
        fragment(0, 100),
      ]),
      7_000,
    ],
  ])('uses the longest stated or measured length of %s: case %#', async (name, file, ms) => {
    expect(await identify(name, file)).toMatchObject({ durationMs: ms, isLengthClaimed: true });
  });

  it('reads WebM with a huge title in linear time', async () => {
    const title = webmElement('4d80', Buffer.alloc(100_000), Buffer.from('\na'));
    const tookMs = await processorMsOf(async () => {
      expect(await lengthOf('a.webm', webmOf(title))).toBeUndefined();
    });
    expect(tookMs).toBeLessThan(1_500);
  });

  it('reads MP4 of nested boxes in linear time', async () => {
    const file = Buffer.concat([mp4ThatClaims(0, []), Buffer.alloc(2_000_000, mp4Box('moov'))]);
    const tookMs = await processorMsOf(async () => {
      expect(await lengthOf('a.m4a', file)).toBeUndefined();
    });
    expect(tookMs).toBeLessThan(3_000);
  });

  it.each<[string, Buffer, boolean]>([
    ['a.flac', flacThatClaims(160_000, 200_000), true],
    ['a.wav', wave(), false],
    ['a.wav', Buffer.concat([wave(), titles, wave().subarray(36)]), true],
    ['a.wav', Buffer.concat([wave(), titles]), false],
    ['a.mp3', silentMp3(4), false],
    ['a.mp3', Buffer.concat([silentMp3(4), Buffer.alloc(20_000)]), true],
  ])('reports whether the length of %s is only claimed: case %#', async (...given) => {
    const [name, file, isClaimed] = given;
    expect((await identify(name, file)).isLengthClaimed).toBe(isClaimed);
  });
});
