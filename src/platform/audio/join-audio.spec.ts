import { readFile } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { soundSeconds } from '../../../test/support/sound-seconds.js';
import { AudioFormatError } from './audio-joiner.js';
import { joinAudio } from './join-audio.js';

const FOLDER = new URL('../../../test/fixtures/speech/', import.meta.url);
/** Length of the two fixtures, and how much encoders' padding may add, in seconds. */
const LENGTH = 0.47 + 0.57;
const PADDING = 0.3;

const FORMATS = ['mp3', 'aac', 'opus', 'flac', 'wav'];

const pieceOf = (format: string, number: 1 | 2): Promise<Buffer> =>
  readFile(new URL(`piece-${number}.${format}`, FOLDER));

async function* inSlices(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) {
    yield bytes.subarray(start, start + size);
  }
}

async function joined(format: string, pieces: Buffer[], size = 1_000): Promise<Buffer> {
  async function* each(): AsyncGenerator<AsyncIterable<Buffer>> {
    for (const piece of pieces) yield inSlices(piece, size);
  }
  const parts: Buffer[] = [];
  for await (const part of joinAudio(format, each())) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

const twoPieces = async (format: string): Promise<Buffer[]> => [
  await pieceOf(format, 1),
  await pieceOf(format, 2),
];

describe(joinAudio.name, () => {
  it.each(FORMATS)('joins %s pieces into a file of their total length', async (format) => {
    const [first, second] = await twoPieces(format);
    const file = await joined(format, [first!, second!, first!]);
    const seconds = soundSeconds(format, file);
    expect(seconds).toBeGreaterThan(LENGTH + 0.47 - 0.01);
    expect(seconds).toBeLessThan(LENGTH + 0.47 + PADDING);
  });

  it.each(FORMATS)('joins %s however it is split into chunks', async (format) => {
    const pieces = await twoPieces(format);
    const whole = await joined(format, pieces, 1_000_000);
    for (const size of [13, 97]) expect(await joined(format, pieces, size)).toEqual(whole);
  });

  it('concatenates PCM samples and drops half a sample', async () => {
    const pieces = [Buffer.from([1, 2, 3]), Buffer.from([4, 5]), Buffer.from([6, 7, 8, 9])];
    expect(await joined('pcm', pieces, 1)).toEqual(Buffer.from([1, 2, 4, 5, 6, 7, 8, 9]));
  });

  it('keeps every sample of WAV behind a header with their number', async () => {
    const pieces = await twoPieces('wav');
    const file = await joined('wav', pieces);
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    expect(file.readUInt32LE(40)).toBe(file.length - 44);
    expect(file.length - 44).toBe(Math.round(LENGTH * 24_000) * 2);
  });

  it('writes the number of samples into the FLAC header', async () => {
    const file = await joined('flac', await twoPieces('flac'));
    expect(file.readUInt32BE(8 + 14)).toBe(Math.round(LENGTH * 24_000));
  });

  it('omits tags and tables of MP3', async () => {
    const tag = Buffer.concat([
      Buffer.from('ID3\x04\0\0\0\0\x01\x00', 'latin1'),
      Buffer.alloc(128),
    ]);
    const pieces = await twoPieces('mp3');
    const plain = await joined('mp3', pieces);
    const tagged = pieces.map((piece) =>
      Buffer.concat([tag, piece, Buffer.from('TAG'), Buffer.alloc(125)]),
    );
    expect(pieces[0]!.includes('Info') || pieces[0]!.includes('Xing')).toBe(true);
    expect(plain.includes('Info') || plain.includes('Xing')).toBe(false);
    expect(await joined('mp3', tagged)).toEqual(plain);
  });

  it('joins Opus into one stream with one beginning and one end', async () => {
    const file = await joined('opus', await twoPieces('opus'));
    const flags: number[] = [];
    const serials = new Set<number>();
    for (let at = file.indexOf('OggS'); at !== -1; at = file.indexOf('OggS', at + 4)) {
      flags.push(file[at + 5]!);
      serials.add(file.readUInt32LE(at + 14));
      expect(file.readUInt32LE(at + 18)).toBe(flags.length - 1);
    }
    expect(flags.filter((flag) => (flag & 2) !== 0)).toHaveLength(1);
    expect(flags.map((flag) => (flag & 4) !== 0).indexOf(true)).toBe(flags.length - 1);
    expect(serials.size).toBe(1);
  });

  it.each([
    ['nothing', () => [Buffer.alloc(0)]],
    ['an HTML page', () => [Buffer.from('<html>'.repeat(100))]],
  ])('refuses %s', async (_what, pieces) => {
    for (const format of [...FORMATS, 'pcm']) {
      if (format === 'pcm' && pieces()[0]!.length > 0) continue;
      await expect(joined(format, pieces())).rejects.toBeInstanceOf(AudioFormatError);
    }
  });

  it.each(['opus', 'flac'])('refuses truncated %s', async (format) => {
    const [first] = await twoPieces(format);
    const cut = first!.subarray(0, first!.length - 100);
    await expect(joined(format, [cut])).rejects.toBeInstanceOf(AudioFormatError);
  });

  it('finds the end of a FLAC frame in linear time', async () => {
    const piece = await pieceOf('flac', 1);
    let start = 4;
    for (let isLast = false; !isLast; start += 4 + piece.readUIntBE(start + 1, 3)) {
      isLast = (piece[start]! & 0x80) !== 0;
    }
    const likeness = piece.subarray(start, start + 16);
    const frame = Buffer.concat(Array.from({ length: 40_000 }, () => likeness));
    const startedMs = performance.now();
    await expect(
      joined('flac', [Buffer.concat([piece.subarray(0, start), frame])]),
    ).rejects.toThrow(AudioFormatError);
    // Summing the whole frame again at each header took 20 s.
    expect(performance.now() - startedMs).toBeLessThan(4_000);
  });

  it('refuses pieces of different formats', async () => {
    const [first, second] = await twoPieces('wav');
    const other = Buffer.from(second!);
    other.writeUInt32LE(48_000, 24);
    await expect(joined('wav', [first!, other])).rejects.toBeInstanceOf(AudioFormatError);
  });

  const decoder = spawnSync('ffmpeg', ['-version']).status === 0 ? it : it.skip;
  decoder.each(FORMATS)('produces %s that a decoder plays to the end', async (format) => {
    const [first, second] = await twoPieces(format);
    const folder = mkdtempSync(join(tmpdir(), 'join-audio-'));
    try {
      const path = join(folder, `joined.${format}`);
      writeFileSync(path, await joined(format, [first!, second!, first!, second!]));
      const decode = [
        '-v',
        'error',
        '-err_detect',
        'crccheck+bitstream+buffer',
        '-i',
        path,
        '-f',
        's16le',
        '-ar',
        '24000',
        '-ac',
        '1',
        '-',
      ];
      const { stdout, stderr } = spawnSync('ffmpeg', decode, { maxBuffer: 1 << 24 });
      expect(stderr.toString()).toBe('');
      const seconds = stdout.length / 2 / 24_000;
      expect(seconds).toBeGreaterThan(2 * LENGTH - 0.03);
      expect(seconds).toBeLessThan(2 * LENGTH + 2 * PADDING);
      if (format !== 'flac') return;
      const [one, two] = await twoPieces('wav');
      const samples = (await joined('wav', [one!, two!, one!, two!])).subarray(44);
      expect(stdout.equals(samples)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
