import { parseBuffer } from 'music-metadata';
import type { AudioContainer } from './audio-formats.js';
import { open } from 'node:fs/promises';
import { readFlacLength, readOggLength } from './count-sound.js';
import { readMp4Length } from './mp4-length.js';
import { isMpegSync, isMpegTable, readMpegFrame } from './mpeg-frames.js';
import type { SoundLength } from './sound-length.js';
import { readWebmLength } from './webm-length.js';

const WINDOW_BYTES = 1024 * 1024;

/** More than any frame, so that a table at the start of one is whole. */
const MARGIN_BYTES = 4 * 1024;

const TAG_BYTES = 10;

/** A week; no recording that fits into an upload is longer. */
const MAX_MS = 7 * 86_400_000;
/** Encoders fill the last packet up, and say how much of it is sound. */
const PADDING_MS = 250;

type Measured = Exclude<AudioContainer, 'mp3' | 'wav'>;

const READERS: Readonly<Record<Measured, (path: string) => Promise<SoundLength | undefined>>> = {
  flac: readFlacLength,
  mp4: readMp4Length,
  ogg: readOggLength,
  webm: readWebmLength,
};

/** How long a file's audio is. */
export interface MeasuredLength {
  /** Whole milliseconds, rounded up. */
  readonly ms: number;
  /** Whether that is little more than what the file says of itself, and no count of its sound. */
  readonly isClaimed: boolean;
}

/**
 * The length of the audio in a file; undefined when the file does not tell. A header may be forged, so
 * MP3 is measured by its frames, FLAC, AAC and Opus are no shorter than theirs, and any other file is no
 * shorter than its bytes take at the highest bit rate of its kind. Not for WAV.
 */
export async function measureAudioFile(
  path: string,
  container: Exclude<AudioContainer, 'wav'>,
  sizeBytes: number,
): Promise<MeasuredLength | undefined> {
  if (container === 'mp3') {
    const ms = await measureMpegFile(path);
    return ms === undefined ? undefined : { ms, isClaimed: false };
  }
  const sound = await READERS[container](path);
  if (!sound) return undefined;
  const { claimedMs, countedMs, maxBytesPerMs } = sound;
  if (claimedMs === undefined) {
    return countedMs === undefined ? undefined : lengthOf(countedMs, false);
  }
  const ms = Math.max(claimedMs, sizeBytes / maxBytesPerMs);
  if (countedMs === undefined) return lengthOf(ms, true);
  return lengthOf(countedMs > ms + PADDING_MS ? countedMs : ms, false);
}

function lengthOf(ms: number, isClaimed: boolean): MeasuredLength {
  return { ms: Math.min(Math.ceil(Number(ms.toFixed(3))), MAX_MS), isClaimed };
}

/** The same for audio in memory that a vendor has made, and whose header is believed. */
export async function measureAudioBytes(
  bytes: Uint8Array,
  contentType: string,
): Promise<number | undefined> {
  // Quick first: most containers say their length, and counting frames takes a second for an hour.
  for (const duration of [false, true]) {
    try {
      const options = { duration, skipCovers: true, skipPostHeaders: true };
      const { format } = await parseBuffer(bytes, { mimeType: contentType }, options);
      const seconds = format.duration ?? 0;
      if (seconds > 0 && Number.isFinite(seconds))
        return Math.ceil(Number((seconds * 1000).toFixed(3)));
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/**
 * The length of an MP3 file by its frames, whatever a table in front of them claims, in whole
 * milliseconds rounded up; undefined where there are none. What lies between frames is passed over,
 * as players do.
 */
async function measureMpegFile(path: string): Promise<number | undefined> {
  const file = await open(path, 'r');
  const window = Buffer.allocUnsafe(WINDOW_BYTES);
  let ms = 0;
  let frames = 0;
  let position = 0;
  try {
    for (;;) {
      const { bytesRead } = await file.read(window, 0, WINDOW_BYTES, position);
      const bytes = window.subarray(0, bytesRead);
      const isLast = bytesRead < WINDOW_BYTES;
      const end = isLast ? bytesRead : bytesRead - MARGIN_BYTES;
      let offset = 0;
      while (offset < end) {
        const frame = readMpegFrame(bytes, offset);
        if (!frame) {
          offset = skipGarbage(bytes, offset);
          continue;
        }
        const rest = bytes.subarray(offset, offset + frame.length);
        if (frames > 0 || !isMpegTable(rest, frame)) ms += frame.durationMs;
        frames++;
        offset += frame.length;
      }
      if (isLast) break;
      position += offset;
    }
  } finally {
    await file.close();
  }
  return ms > 0 ? Math.ceil(Number(ms.toFixed(3))) : undefined;
}

/** Where the next frame may begin; a tag that stands where a frame should is skipped by its length. */
function skipGarbage(bytes: Buffer, offset: number): number {
  if (bytes.toString('latin1', offset, offset + 3) === 'ID3') {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(offset + 6, offset + TAG_BYTES);
    return offset + TAG_BYTES + ((a << 21) | (b << 14) | (c << 7) | d);
  }
  let next = offset + 1;
  while (next < bytes.length && !isMpegSync(bytes, next)) next++;
  return next;
}
