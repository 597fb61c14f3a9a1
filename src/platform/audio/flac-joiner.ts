import { AudioFormatError, type AudioJoiner } from './audio-joiner.js';
import {
  crc8,
  crcTable,
  NUMBER_OFFSET,
  readFlacFrame,
  type FlacFrameHeader,
} from './flac-frames.js';

const CRC16 = crcTable(16, 0x8005);

const STREAMINFO_BYTES = 34;
const BLOCK_HEADER_BYTES = 4;
/** Longer than any valid frame. */
const MAX_FRAME_BYTES = 4 * 1024 * 1024;
const MIN_BLOCK_SIZE = 16;

/**
 * Joins FLAC: the frames of all pieces behind one header with the true length. Frames are renumbered by
 * sample, since the last one of each piece is shorter. A frame does not contain its length; it ends where
 * another header begins and the checksum matches.
 */
export class FlacJoiner implements AudioJoiner {
  private rest: Buffer = Buffer.alloc(0);
  private state: 'mark' | 'blocks' | 'frames' = 'mark';
  /** Offset up to which the search found no end of the current frame. */
  private searched = 0;
  /** Checksum of the first `summed` bytes of the current frame. */
  private checksum = 0;
  private summed = 0;
  private frame: FlacFrameHeader | undefined;
  private hasFrames = false;

  private info: Buffer | undefined;
  private samples = 0;
  private largestBlock = 0;
  private smallestBlock = 65_535;

  push(bytes: Buffer): Buffer[] {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    if (this.state === 'mark' && !this.readMark()) return [];
    if (this.state === 'blocks' && !this.readBlocks()) return [];
    const ready: Buffer[] = [];
    for (let frame = this.nextFrame(); frame; frame = this.nextFrame()) ready.push(frame);
    return ready;
  }

  endPiece(): Buffer[] {
    const ready: Buffer[] = [];
    if (this.state === 'frames' && this.rest.length > 0)
      ready.push(this.takeFrame(this.rest.length));
    if (!this.hasFrames) throw new AudioFormatError('a piece of FLAC without frames');
    this.state = 'mark';
    this.hasFrames = false;
    return ready;
  }

  end(): Buffer[] {
    return [];
  }

  header(): Buffer {
    if (!this.info) throw new AudioFormatError('no piece');
    const info = Buffer.from(this.info);
    info.writeUInt16BE(
      Math.max(MIN_BLOCK_SIZE, this.sameSize() ? MIN_BLOCK_SIZE : this.smallestBlock),
      0,
    );
    info.writeUInt16BE(Math.max(MIN_BLOCK_SIZE, this.largestBlock), 2);
    // Zeros: frame sizes and the digest of the samples are unknown.
    info.fill(0, 4, 10);
    info.fill(0, 18);
    // 36 bits; the first four share a byte with the bits per sample.
    info[13] = (info[13]! & 0xf0) | Math.floor(this.samples / 2 ** 32);
    info.writeUInt32BE(this.samples % 2 ** 32, 14);
    return Buffer.concat([
      Buffer.from('fLaC', 'latin1'),
      Buffer.from([0x80, 0, 0, STREAMINFO_BYTES]),
      info,
    ]);
  }

  /** Decoders expect frames numbered by sample only when the header's block sizes differ. */
  private sameSize(): boolean {
    return this.smallestBlock >= this.largestBlock;
  }

  private readMark(): boolean {
    if (this.rest.length < 4) return false;
    if (this.rest.toString('latin1', 0, 4) !== 'fLaC') throw new AudioFormatError('not FLAC');
    this.rest = this.rest.subarray(4);
    this.state = 'blocks';
    return true;
  }

  private readBlocks(): boolean {
    for (;;) {
      if (this.rest.length < BLOCK_HEADER_BYTES) return false;
      const isLast = (this.rest[0]! & 0x80) !== 0;
      const type = this.rest[0]! & 0x7f;
      const size = this.rest.readUIntBE(1, 3);
      if (this.rest.length < BLOCK_HEADER_BYTES + size) return false;
      if (type === 0) this.adopt(this.rest.subarray(BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES + size));
      this.rest = this.rest.subarray(BLOCK_HEADER_BYTES + size);
      if (!isLast) continue;
      if (!this.info) throw new AudioFormatError('FLAC without stream information');
      this.state = 'frames';
      this.frame = undefined;
      return true;
    }
  }

  private adopt(info: Buffer): void {
    if (info.length !== STREAMINFO_BYTES) throw new AudioFormatError('bad stream information');
    this.info ??= Buffer.from(info);
    // Rate, channels and bits are the 28 bits from byte 10.
    const layoutOf = (block: Buffer): number => block.readUInt32BE(10) >>> 4;
    if (layoutOf(info) !== layoutOf(this.info)) {
      throw new AudioFormatError('pieces of different FLAC formats');
    }
  }

  private nextFrame(): Buffer | undefined {
    if (!this.frame && !this.readFrame()) return undefined;
    for (;;) {
      const next = this.rest.indexOf(0xff, this.searched);
      if (next === -1) {
        this.searched = this.rest.length;
        break;
      }
      this.searched = next;
      const header = readFlacFrame(this.rest, next);
      if (header === 'short') break;
      if (header && this.isWholeTo(next)) return this.takeFrame(next);
      this.searched = next + 1;
    }
    if (this.rest.length > MAX_FRAME_BYTES) throw new AudioFormatError('an endless FLAC frame');
    return undefined;
  }

  /** Returns whether the current frame can end here. Called with increasing offsets, since sound can look like a header. */
  private isWholeTo(end: number): boolean {
    const sumAt = end - 2;
    this.checksum = crc16(this.rest.subarray(this.summed, sumAt), this.checksum);
    this.summed = sumAt;
    return this.checksum === this.rest.readUInt16BE(sumAt);
  }

  private readFrame(): boolean {
    const header = readFlacFrame(this.rest, 0);
    if (header === 'short') return false;
    if (!header) throw new AudioFormatError('a missing FLAC frame');
    this.frame = header;
    this.searched = header.length;
    return true;
  }

  private takeFrame(length: number): Buffer {
    const bytes = this.rest.subarray(0, length);
    const header = this.frame ?? readShortFrame(bytes);
    if (!header || !isWholeFlacFrame(bytes)) throw new AudioFormatError('truncated FLAC');
    const renumbered = renumberFlacFrame(bytes, header, this.samples);
    this.samples += header.blockSize;
    this.largestBlock = Math.max(this.largestBlock, header.blockSize);
    this.smallestBlock = Math.min(this.smallestBlock, header.blockSize);
    this.rest = this.rest.subarray(length);
    this.frame = undefined;
    this.searched = 0;
    this.checksum = 0;
    this.summed = 0;
    this.hasFrames = true;
    return renumbered;
  }
}

/** Reads the header of a last frame, which can be shorter than the longest header. */
function readShortFrame(bytes: Buffer): FlacFrameHeader | undefined {
  const header = readFlacFrame(Buffer.concat([bytes, Buffer.alloc(16)]), 0);
  return header === 'short' ? undefined : header;
}

/** Verifies a frame's checksum. */
function isWholeFlacFrame(frame: Buffer): boolean {
  return frame.length > 2 && crc16(frame.subarray(0, -2)) === frame.readUInt16BE(frame.length - 2);
}

/** Renumbers a frame by its first sample, as in streams whose block sizes differ. */
function renumberFlacFrame(
  frame: Buffer,
  { length, numberEnd }: FlacFrameHeader,
  firstSample: number,
): Buffer {
  const head = Buffer.concat([
    Buffer.from([0xff, 0xf9]),
    frame.subarray(2, NUMBER_OFFSET),
    encodeNumber(firstSample),
    frame.subarray(numberEnd, length - 1),
  ]);
  const body = Buffer.concat([head, Buffer.from([crc8(head)]), frame.subarray(length, -2)]);
  const check = Buffer.alloc(2);
  check.writeUInt16BE(crc16(body));
  return Buffer.concat([body, check]);
}

function encodeNumber(value: number): Buffer {
  if (value < 0x80) return Buffer.from([value]);
  const bytes: number[] = [];
  let rest = value;
  let room = 0x3f;
  while (rest > room) {
    bytes.unshift(0x80 | (rest % 64));
    rest = Math.floor(rest / 64);
    room >>= 1;
  }
  const mark = (0xfe << (6 - bytes.length)) & 0xff;
  return Buffer.from([mark | rest, ...bytes]);
}

/** @param value checksum of the preceding bytes */
function crc16(bytes: Buffer, value = 0): number {
  for (const byte of bytes) value = ((value << 8) & 0xffff) ^ CRC16[(value >> 8) ^ byte]!;
  return value;
}
