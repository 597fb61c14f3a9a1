import { AudioFormatError, type AudioJoiner } from './audio-joiner.js';
import { isMpegTable, readMpegFrame } from './mpeg-frames.js';

/** So much may stand between two frames; a tag with a picture is larger and is skipped by its length. */
const MAX_GARBAGE_BYTES = 256 * 1024;
const TAG_HEADER_BYTES = 10;

/** How a format of independent frames is cut. */
interface FrameFormat {
  headerBytes: number;
  /** Bytes of the frame at the offset, header included; undefined where no frame begins. */
  lengthAt(bytes: Buffer, offset: number): number | undefined;
  /** Whether a piece's first frame is about its own file rather than sound. */
  isAboutFile(frame: Buffer): boolean;
}

export const MP3_FRAMES: FrameFormat = {
  headerBytes: 4,
  lengthAt: (bytes, offset) => readMpegFrame(bytes, offset)?.length,
  isAboutFile: (bytes) => {
    const frame = readMpegFrame(bytes, 0);
    return frame !== undefined && isMpegTable(bytes, frame);
  },
};

export const ADTS_FRAMES: FrameFormat = {
  headerBytes: 7,
  lengthAt: (bytes, offset) => {
    if (bytes[offset] !== 0xff || (bytes[offset + 1]! & 0xf6) !== 0xf0) return undefined;
    const length =
      ((bytes[offset + 3]! & 3) << 11) | (bytes[offset + 4]! << 3) | (bytes[offset + 5]! >> 5);
    return length > 7 ? length : undefined;
  },
  isAboutFile: () => false,
};

/**
 * Formats whose files are frames in a row, MP3 and ADTS: the frames of all pieces, without the tags
 * around them and the tables that tell how long a single piece is.
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
      const length = this.format.lengthAt(all, offset);
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
    // The last frame may be shorter than what is looked at for a tag.
    const { rest } = this;
    const length =
      rest.length >= this.format.headerBytes ? this.format.lengthAt(rest, 0) : undefined;
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

  /** How much of what is no frame can be passed over at once. */
  private garbageAt(bytes: Buffer, offset: number): number {
    if (bytes.toString('latin1', offset, offset + 3) === 'ID3') {
      const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(offset + 6, offset + 10);
      return TAG_HEADER_BYTES + ((a << 21) | (b << 14) | (c << 7) | d);
    }
    this.garbageBytes++;
    if (this.garbageBytes > MAX_GARBAGE_BYTES) throw new AudioFormatError('no frames');
    return 1;
  }
}
