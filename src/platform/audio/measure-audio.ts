import type { AudioContainer } from './audio-formats.js';
import { FlacCounter, OggCounter } from './count-sound.js';
import { readMp4Length } from './mp4-length.js';
import { FrameCounter, MP3_FRAMES } from './mpeg-frames.js';
import { countSoundOfFile } from './sound-counter.js';
import type { SoundLength } from './sound-length.js';
import { readWebmLength } from './webm-length.js';

/** A week; no recording that fits into an upload is longer. */
const MAX_MS = 7 * 86_400_000;
/** Encoders pad the last packet and record how much of it is sound. */
const PADDING_MS = 250;

type Measured = Exclude<AudioContainer, 'wav'>;

const READERS: Readonly<Record<Measured, (path: string) => Promise<SoundLength | undefined>>> = {
  flac: (path) => countSoundOfFile(path, new FlacCounter()),
  mp3: (path) => countSoundOfFile(path, new FrameCounter(MP3_FRAMES)),
  mp4: readMp4Length,
  ogg: (path) => countSoundOfFile(path, new OggCounter()),
  webm: readWebmLength,
};

/** Length of a file's audio. */
export interface MeasuredLength {
  /** Whole milliseconds, rounded up. */
  readonly ms: number;
  /** True when the length mostly relies on the file's metadata, not on a count of its sound. */
  readonly isClaimed: boolean;
}

/**
 * Measures the audio in a file; undefined when it does not tell. Headers can be forged, so MP3 is measured
 * by its frames; FLAC, AAC and Opus are at least as long as their frames, and any other file is at least
 * as long as its bytes last at the format's highest bit rate. Not for WAV.
 */
export async function measureAudioFile(
  path: string,
  container: Measured,
  sizeBytes: number,
): Promise<MeasuredLength | undefined> {
  const sound = await READERS[container](path);
  return sound && measuredLength(sound, sizeBytes);
}

/** Combines the claimed and the counted length. */
export function measuredLength(
  { claimedMs, countedMs, maxBytesPerMs }: SoundLength,
  sizeBytes: number,
): MeasuredLength | undefined {
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
