import { parseBuffer, parseFile, type IAudioMetadata, type IOptions } from 'music-metadata';
import type { AudioContainer } from './audio-formats.js';
import { open } from 'node:fs/promises';
import { countFlacMs, countOggOpusMs } from './count-sound.js';
import { isMpegSync, isMpegTable, readMpegFrame } from './mpeg-frames.js';

const WINDOW_BYTES = 1024 * 1024;

/** More than any frame, so that a table at the start of one is whole. */
const MARGIN_BYTES = 4 * 1024;

const TAG_BYTES = 10;

/** A week; no recording that fits into an upload is longer. */
const MAX_MS = 7 * 86_400_000;
/** Compressed with loss, nothing that people record has more than 512 kbit/s; */
const MAX_LOSSY_BYTES_PER_MS = 64;
/** without loss, more than 24 bits in stereo at 192 kHz; */
const MAX_LOSSLESS_BYTES_PER_MS = 1_152;
/** and with a picture that moves, more than 20 Mbit/s. */
const MAX_VIDEO_BYTES_PER_MS = 2_500;
/** What frames add to samples that can not be compressed. */
const FRAMING = 1.05;

/** Encoders fill the last packet up, and say how much of it is sound. */
const PADDING_MS = 250;

/** How long a file's audio is. */
export interface MeasuredLength {
  /** Whole milliseconds, rounded up. */
  readonly ms: number;
  /** Whether that is little more than what the file says of itself, and no count of its sound. */
  readonly isClaimed: boolean;
}

/**
 * The length of the audio in a file; undefined when the file does not tell. A header may be forged, so
 * MP3 is measured by its frames, FLAC and Opus in Ogg are no shorter than theirs, and any other file is no
 * shorter than its bytes take at the highest bit rate of its kind. Not for WAV.
 */
export async function measureAudioFile(
  path: string,
  container: AudioContainer,
  sizeBytes: number,
): Promise<MeasuredLength | undefined> {
  if (container === 'mp3') {
    const ms = await measureMpegFile(path);
    return ms === undefined ? undefined : { ms, isClaimed: false };
  }
  const claimed = await measure((options) => parseFile(path, options));
  const countedMs = await countSound(path, container);
  if (!claimed) return countedMs === undefined ? undefined : lengthOf(countedMs, false);
  const leastMs = Math.ceil(sizeBytes / maxBytesPerMs(claimed.format));
  const ms = Math.max(claimed.ms, leastMs);
  if (countedMs === undefined) return lengthOf(ms, true);
  return lengthOf(countedMs > ms + PADDING_MS ? countedMs : ms, false);
}

function lengthOf(ms: number, isClaimed: boolean): MeasuredLength {
  return { ms: Math.min(Math.ceil(Number(ms.toFixed(3))), MAX_MS), isClaimed };
}

/** What a decoder hears of a file, whatever it says of itself; undefined where that is not counted. */
async function countSound(path: string, container: AudioContainer): Promise<number | undefined> {
  if (container === 'flac') return countFlacMs(path);
  return container === 'ogg' ? countOggOpusMs(path) : undefined;
}

/** The same for audio in memory that a vendor has made, and whose header is believed. */
export async function measureAudioBytes(
  bytes: Uint8Array,
  contentType: string,
): Promise<number | undefined> {
  const measured = await measure((options) =>
    parseBuffer(bytes, { mimeType: contentType }, options),
  );
  return measured?.ms;
}

function maxBytesPerMs(format: IAudioMetadata['format']): number {
  const { hasVideo, lossless, sampleRate = 0, numberOfChannels = 0, bitsPerSample = 0 } = format;
  if (hasVideo) return MAX_VIDEO_BYTES_PER_MS;
  if (!lossless) return MAX_LOSSY_BYTES_PER_MS;
  const unpacked = (sampleRate * numberOfChannels * bitsPerSample * FRAMING) / 8_000;
  return Math.min(unpacked || MAX_LOSSLESS_BYTES_PER_MS, MAX_LOSSLESS_BYTES_PER_MS);
}

async function measure(
  parse: (options: IOptions) => Promise<IAudioMetadata>,
): Promise<{ ms: number; format: IAudioMetadata['format'] } | undefined> {
  // Quick first: most containers say their length, and counting frames takes a second for an hour.
  for (const duration of [false, true]) {
    try {
      const { format } = await parse({ duration, skipCovers: true, skipPostHeaders: true });
      const { duration: seconds } = format;
      if (seconds !== undefined && seconds > 0 && Number.isFinite(seconds)) {
        return { ms: Math.ceil(Number((seconds * 1000).toFixed(3))), format };
      }
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
