import { AAC_SAMPLE_RATES } from './aac-config.js';
import { AudioFormatError, type AudioJoiner } from './audio-joiner.js';
import type { SoundCounter } from './sound-counter.js';
import { MAX_LOSSY_BYTES_PER_MS, type SoundLength } from './sound-length.js';

/** Most bytes between two frames; larger tags, such as with a picture, are skipped by their length. */
const MAX_GARBAGE_BYTES = 256 * 1024;

const TAG_HEADER_BYTES = 10;
const AAC_SAMPLES_OF_BLOCK = 1_024;
/** Longer than any header, including the mark of a table. */
const COUNTER_MARGIN_BYTES = 64;
const SYNC = 0xff;
/** Longest tag at the end, unless it holds a picture. */
const MAX_STRAY_BYTES = 16 * 1024;
const MAX_STRAY_SHARE = 1 / 256;

export const MP3_FRAMES: FrameFormat = {
  headerBytes: 4,
  frameAt: readMpegFrame,
  isAboutFile: (bytes) => {
    const frame = readMpegFrame(bytes, 0);
    return frame !== undefined && isMpegTable(bytes, frame);
  },
};

export const ADTS_FRAMES: FrameFormat = {
  headerBytes: 7,
  frameAt: (bytes, offset) => {
    if (bytes[offset] !== 0xff || (bytes[offset + 1]! & 0xf6) !== 0xf0) return undefined;
    const length =
      ((bytes[offset + 3]! & 3) << 11) | (bytes[offset + 4]! << 3) | (bytes[offset + 5]! >> 5);
    const sampleRate = AAC_SAMPLE_RATES[(bytes[offset + 2]! >> 2) & 15];
    if (length <= 7 || sampleRate === undefined) return undefined;
    const blocks = (bytes[offset + 6]! & 3) + 1;
    return { length, durationMs: (blocks * AAC_SAMPLES_OF_BLOCK * 1_000) / sampleRate };
  },
  isAboutFile: () => false,
};

/**
 * Joins MP3 or ADTS, whose files are sequences of frames: takes the frames of all pieces, without tags and
 * without the tables that describe a single file.
 */
export class FrameJoiner implements AudioJoiner {
  private rest: Buffer = Buffer.alloc(0);
  private skip = 0;
  private garbageBytes = 0;
  private frames = 0;

  constructor(private readonly format: FrameFormat) {}

  push(bytes: Buffer): Buffer[] {
    const all = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const ready: Buffer[] = [];
    let offset = 0;
    for (;;) {
      const skipped = Math.min(this.skip, all.length - offset);
      this.skip -= skipped;
      offset += skipped;
      if (all.length - offset < TAG_HEADER_BYTES) break;
      const length = this.format.frameAt(all, offset)?.length;
      if (length === undefined) {
        this.skip = this.garbageAt(all, offset);
        continue;
      }
      if (offset + length > all.length) break;
      const frame = all.subarray(offset, offset + length);
      if (this.frames > 0 || !this.format.isAboutFile(frame)) ready.push(frame);
      this.frames++;
      offset += length;
    }
    this.rest = all.subarray(offset);
    return ready.length > 1 ? [Buffer.concat(ready)] : ready;
  }

  endPiece(): Buffer[] {
    const ready: Buffer[] = [];
    // The last frame may be shorter than a tag header.
    const { rest } = this;
    const length =
      rest.length >= this.format.headerBytes ? this.format.frameAt(rest, 0)?.length : undefined;
    if (length !== undefined && length <= rest.length) {
      ready.push(rest.subarray(0, length));
      this.frames++;
    }
    if (this.frames === 0) throw new AudioFormatError('a piece without frames');
    this.rest = Buffer.alloc(0);
    this.frames = 0;
    this.skip = 0;
    this.garbageBytes = 0;
    return ready;
  }

  end(): Buffer[] {
    return [];
  }

  /** Returns how many bytes without a frame to skip. */
  private garbageAt(bytes: Buffer, offset: number): number {
    const tagBytes = tagLength(bytes, offset);
    if (tagBytes !== undefined) return tagBytes;
    this.garbageBytes++;
    if (this.garbageBytes > MAX_GARBAGE_BYTES) throw new AudioFormatError('no frames');
    return 1;
  }
}

/**
 * Measures such a file by its frames, whatever a table at its beginning claims. Skips bytes between frames,
 * like players do. Except for tags at the beginning, those bytes may be sound to some players: frames of
 * other layers, or another format behind a tag. With many of them the length is only a claim.
 */
export class FrameCounter implements SoundCounter {
  readonly marginBytes = COUNTER_MARGIN_BYTES;
  private frames = 0;
  private ms = 0;
  private isStart = true;
  private seenBytes = 0;
  private strayBytes = 0;
  /** Remaining bytes of a frame or tag that continues in the next window. */
  private skip = 0;

  constructor(private readonly format: FrameFormat) {}

  scan(bytes: Buffer, end: number): boolean {
    let offset = this.skip;
    while (offset < end) {
      const frame = this.format.frameAt(bytes, offset);
      const tagBytes = this.isStart ? tagLength(bytes, offset) : undefined;
      if (frame) {
        const whole = bytes.subarray(offset, offset + frame.length);
        if (this.frames > 0 || !this.format.isAboutFile(whole)) this.ms += frame.durationMs;
        this.frames++;
      }
      const known = frame?.length ?? tagBytes;
      this.isStart &&= tagBytes !== undefined;
      if (known === undefined) {
        const from = offset++;
        // Searching for a tag at each byte of a file without frames would take seconds.
        while (offset < end && bytes[offset] !== SYNC) offset++;
        this.strayBytes += offset - from;
      } else offset += known;
    }
    this.skip = offset - end;
    this.seenBytes += end;
    return true;
  }

  read(): SoundLength | undefined {
    const { ms, strayBytes, seenBytes } = this;
    if (ms === 0) return undefined;
    const isAll = strayBytes <= Math.max(MAX_STRAY_BYTES, seenBytes * MAX_STRAY_SHARE);
    return {
      claimedMs: isAll ? undefined : ms,
      countedMs: isAll ? ms : undefined,
      maxBytesPerMs: MAX_LOSSY_BYTES_PER_MS,
    };
  }
}

/** Returns the bytes of a tag; undefined without one that all players skip. */
function tagLength(bytes: Buffer, offset: number): number | undefined {
  if (bytes.toString('latin1', offset, offset + 3) !== 'ID3') return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(offset + 6, offset + TAG_HEADER_BYTES);
  if (((a | b | c | d) & 0x80) !== 0) return undefined;
  return TAG_HEADER_BYTES + ((a << 21) | (b << 14) | (c << 7) | d);
}

/** A frame of sound. */
interface SoundFrame {
  /** Bytes, including the header. */
  readonly length: number;
  readonly durationMs: number;
}

/** A frame of MPEG audio layer 3. */
interface MpegFrame extends SoundFrame {
  /** Offset of its audio, after header, checksum and side information. */
  readonly audioOffset: number;
}

const BITRATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** Matches eleven sync bits, layer 3, and a valid version. */
function isMpegSync(bytes: Buffer, offset: number): boolean {
  if (bytes[offset] !== 0xff) return false;
  const second = bytes[offset + 1] ?? 0;
  return (second & 0xe6) === 0xe2 && (second & 0x18) !== 0x08;
}

/** Reads a frame header of four bytes; undefined without one. */
function readMpegFrame(bytes: Buffer, offset: number): MpegFrame | undefined {
  if (!isMpegSync(bytes, offset) || offset + 4 > bytes.length) return undefined;
  const second = bytes[offset + 1]!;
  const third = bytes[offset + 2]!;
  const fourth = bytes[offset + 3]!;
  const isVersion1 = (second & 0x18) === 0x18;
  const halvings = isVersion1 ? 0 : (second & 0x18) === 0x10 ? 1 : 2;
  const kilobits = (isVersion1 ? BITRATES_1 : BITRATES_2)[third >> 4];
  const sampleRate = SAMPLE_RATES[(third >> 2) & 3];
  // Frames of free format do not contain their length, and no encoder makes them.
  if (kilobits === undefined || kilobits === 0 || sampleRate === undefined) return undefined;
  const padding = (third >> 1) & 1;
  const samplesByEight = isVersion1 ? 144 : 72;
  const rate = sampleRate >> halvings;
  const length = Math.floor((samplesByEight * kilobits * 1000) / rate) + padding;
  const isMono = fourth >> 6 === 3;
  const sideBytes = isVersion1 ? (isMono ? 17 : 32) : isMono ? 9 : 17;
  const checksumBytes = (second & 1) === 0 ? 2 : 0;
  const durationMs = (samplesByEight * 8 * 1000) / rate;
  return { length, durationMs, audioOffset: 4 + checksumBytes + sideBytes };
}

/** Returns whether a frame is a table with the length of its own file instead of sound. */
function isMpegTable(frame: Buffer, { audioOffset }: MpegFrame): boolean {
  const textAt = (offset: number): string => frame.toString('latin1', offset, offset + 4);
  const mark = textAt(audioOffset);
  return mark === 'Xing' || mark === 'Info' || textAt(36) === 'VBRI';
}

/** Splits a format of independent frames. */
interface FrameFormat {
  headerBytes: number;
  /** Returns undefined where no frame begins. */
  frameAt(bytes: Buffer, offset: number): SoundFrame | undefined;
  /** Returns whether a piece's first frame describes its own file. */
  isAboutFile(frame: Buffer): boolean;
}
