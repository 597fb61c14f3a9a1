import { open } from 'node:fs/promises';
import { MAX_HEADER_BYTES, readFlacFrame } from './flac-frames.js';
import { opusSamples } from './opus-packets.js';

/** Read at once, so that others have their turn between two. */
const WINDOW_BYTES = 256 * 1024;

const PAGE_HEADER_BYTES = 27;
/** A page with all of its lacing and data. */
const MAX_PAGE_BYTES = PAGE_HEADER_BYTES + 255 + 255 * 255;
const CONTINUED = 1;
const FIRST = 2;
const OPUS_RATE = 48_000;
const OPUS_HEADERS: ReadonlySet<string> = new Set(['OpusHead', 'OpusTags']);

/** Where the rate lies in a FLAC file: 20 bits. */
const FLAC_RATE_OFFSET = 18;

/**
 * The length, in milliseconds, of what a decoder finds in a FLAC file, whatever its header says: each frame
 * counts that has a header with its checksum. The lower of the rates of stream and frame is taken,
 * as decoders differ in which they follow. Undefined where there are no frames.
 */
export async function countFlacMs(path: string): Promise<number | undefined> {
  let streamRate: number | undefined;
  let ms = 0;
  await eachWindow(path, MAX_HEADER_BYTES, (bytes, end) => {
    streamRate ??= bytes.readUIntBE(FLAC_RATE_OFFSET, 3) >>> 4;
    for (let at = bytes.indexOf(0xff); at !== -1 && at < end; at = bytes.indexOf(0xff, at + 1)) {
      const frame = readFlacFrame(bytes, at);
      if (!frame || frame === 'short') continue;
      const rate = Math.min(frame.sampleRate || streamRate, streamRate || frame.sampleRate);
      if (rate > 0) ms += (frame.blockSize * 1_000) / rate;
    }
    return true;
  });
  return ms || undefined;
}

/**
 * The same for Opus in Ogg, by what each packet says of itself, which decoders follow. Pages are looked
 * for everywhere, also within others, since a decoder that meets a damaged one goes on inside it.
 * Undefined where there is no sound, or some that is no Opus.
 */
export async function countOggOpusMs(path: string): Promise<number | undefined> {
  const streams = new Set<number>();
  let samples = 0;
  let isOpus = true;
  await eachWindow(path, MAX_PAGE_BYTES, (bytes, end) => {
    for (
      let at = bytes.indexOf('OggS');
      at !== -1 && at < end;
      at = bytes.indexOf('OggS', at + 4)
    ) {
      const dataOffset = at + PAGE_HEADER_BYTES + bytes[at + 26]!;
      const isFirst = (bytes[at + 5]! & FIRST) !== 0 || !streams.has(bytes.readUInt32LE(at + 14));
      isOpus &&= !isFirst || bytes.toString('latin1', dataOffset, dataOffset + 8) === 'OpusHead';
      if (!isOpus) return false;
      streams.add(bytes.readUInt32LE(at + 14));
      samples += samplesOfPage(bytes, at, dataOffset);
    }
    return true;
  });
  return isOpus && samples > 0 ? (samples * 1_000) / OPUS_RATE : undefined;
}

function samplesOfPage(bytes: Buffer, page: number, dataOffset: number): number {
  let samples = 0;
  let offset = dataOffset;
  let isStart = (bytes[page + 5]! & CONTINUED) === 0;
  for (let index = page + PAGE_HEADER_BYTES; index < dataOffset; index++) {
    const part = bytes[index]!;
    if (isStart && part > 0 && !isOpusHeader(bytes, offset)) {
      samples += opusSamples(bytes[offset]!, bytes[offset + 1]!);
    }
    offset += part;
    isStart = part < 255;
  }
  return samples;
}

function isOpusHeader(bytes: Buffer, offset: number): boolean {
  return bytes[offset] === 0x4f && OPUS_HEADERS.has(bytes.toString('latin1', offset, offset + 8));
}

/**
 * Shows a file piece by piece, each with so many bytes more than are its own (zeroes behind the last),
 * so that what begins in it is whole. Ends early when `read` says false.
 */
async function eachWindow(
  path: string,
  marginBytes: number,
  read: (bytes: Buffer, end: number) => boolean,
): Promise<void> {
  const file = await open(path, 'r');
  try {
    const window = Buffer.allocUnsafe(WINDOW_BYTES + marginBytes);
    for (let position = 0; ; position += WINDOW_BYTES) {
      const { bytesRead } = await file.read(window, 0, window.length, position);
      window.fill(0, bytesRead);
      if (bytesRead === 0 || !read(window, Math.min(bytesRead, WINDOW_BYTES))) return;
    }
  } finally {
    await file.close();
  }
}
