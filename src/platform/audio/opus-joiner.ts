import { AudioFormatError, type AudioJoiner } from './audio-joiner.js';
import { opusSamples } from './opus-packets.js';

const OGG_CONTINUED = 1;

const OGG_LAST = 4;

const HEADER_BYTES = 27;

const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit++) value = (value << 1) ^ (value < 0 ? 0x04c11db7 : 0);
  return value >>> 0;
});

/** Packets of headers before the sound. */
const HEADER_PACKETS = 2;
const HEAD_BYTES = 19;

/**
 * Joins Opus in Ogg into a single stream with the packets of all pieces. Players stop at the end of the
 * first of several streams, so the pages are rewritten with one serial number, consecutive sequence numbers
 * and positions summed up from the packets.
 */
export class OpusJoiner implements AudioJoiner {
  private rest: Buffer = Buffer.alloc(0);
  /** Header of the first piece, which the others must match. */
  private head: Buffer | undefined;
  private serial = 0;
  private sequence = 0;
  private samples = 0n;
  /** The latest page, held back because it may be the last. */
  private held: Omit<OggPage, 'length'> | undefined;

  private headerPackets = 0;
  private isFirstPiece = true;
  private pieceStart = 0n;
  private pieceEnd = 0n;
  /** Samples of a packet that continues on the next page. */
  private openPacket = 0;

  push(bytes: Buffer): Buffer[] {
    this.rest = this.rest.length === 0 ? bytes : Buffer.concat([this.rest, bytes]);
    const ready: Buffer[] = [];
    for (;;) {
      const page = readOggPage(this.rest);
      if (page === 'short') return ready;
      if (!page) throw new AudioFormatError('a missing Ogg page');
      if (!this.head) this.serial = this.rest.readUInt32LE(14);
      this.rest = this.rest.subarray(page.length);
      if (this.headerPackets < HEADER_PACKETS) this.takeHeader(page, ready);
      else this.takeSound(page, ready);
    }
  }

  endPiece(): Buffer[] {
    if (this.samples === this.pieceStart || this.rest.length > 0 || this.openPacket > 0) {
      throw new AudioFormatError('a truncated piece of Opus');
    }
    this.headerPackets = 0;
    this.isFirstPiece = false;
    return [];
  }

  end(): Buffer[] {
    const { held } = this;
    if (!held) return [];
    // The encoder pads its last packet; only the vendor's position says how much of it is sound.
    const pieceSamples = this.samples - this.pieceStart;
    const isTrimmed = this.pieceEnd > 0n && this.pieceEnd < pieceSamples;
    const granule = isTrimmed ? this.pieceStart + this.pieceEnd : held.granule;
    return [this.write({ ...held, granule, flags: held.flags | OGG_LAST })];
  }

  private takeHeader(page: OggPage, ready: Buffer[]): void {
    if (this.headerPackets === 0) {
      this.adopt(page.data);
      this.pieceStart = this.samples;
      this.pieceEnd = 0n;
    }
    this.headerPackets += page.lacing.filter((part) => part < 255).length;
    if (this.headerPackets > HEADER_PACKETS) throw new AudioFormatError('sound among headers');
    if (this.isFirstPiece) ready.push(this.write({ ...page, granule: 0n }));
  }

  private adopt(data: Buffer): void {
    if (data.length < HEAD_BYTES || data.toString('latin1', 0, 8) !== 'OpusHead') {
      throw new AudioFormatError('Ogg without Opus');
    }
    this.head ??= Buffer.from(data);
    // Channels and their mapping.
    if (data[9] !== this.head[9] || !data.subarray(18).equals(this.head.subarray(18))) {
      throw new AudioFormatError('pieces of different channels');
    }
  }

  private takeSound(page: OggPage, ready: Buffer[]): void {
    if (page.granule >= 0n) this.pieceEnd = page.granule;
    if (page.lacing.length === 0) return;
    const isComplete = this.countPackets(page);
    if (this.held) ready.push(this.write(this.held));
    this.held = {
      flags: page.flags & OGG_CONTINUED,
      granule: isComplete ? this.samples : -1n,
      lacing: Buffer.from(page.lacing),
      data: Buffer.from(page.data),
    };
  }

  /** @returns whether any packet ends on the page */
  private countPackets({ lacing, data }: OggPage): boolean {
    let offset = 0;
    let isStart = this.openPacket === 0;
    let isComplete = false;
    for (const part of lacing) {
      if (isStart)
        this.openPacket = part === 0 ? 0 : opusSamples(data[offset]!, data[offset + 1] ?? 0);
      offset += part;
      isStart = part < 255;
      if (!isStart) continue;
      this.samples += BigInt(this.openPacket);
      this.openPacket = 0;
      isComplete = true;
    }
    return isComplete;
  }

  private write(page: Omit<OggPage, 'length'>): Buffer {
    return writeOggPage(page, this.serial, this.sequence++);
  }
}

/** A page of an Ogg file. */
interface OggPage {
  /** Bytes of the whole page. */
  length: number;
  flags: number;
  /** Samples up to the end of the last packet that ends here; -1 if none does. */
  granule: bigint;
  /** Lengths of the segments of packets; one below 255 ends its packet. */
  lacing: Buffer;
  data: Buffer;
}

/** Reads the page at the start of the bytes; `short` when more are needed, undefined without one. */
function readOggPage(bytes: Buffer): OggPage | 'short' | undefined {
  if (bytes.length < HEADER_BYTES) return 'short';
  if (bytes.toString('latin1', 0, 4) !== 'OggS' || bytes[4] !== 0) return undefined;
  const dataOffset = HEADER_BYTES + bytes[26]!;
  if (bytes.length < dataOffset) return 'short';
  const lacing = bytes.subarray(HEADER_BYTES, dataOffset);
  const length = lacing.reduce((sum, part) => sum + part, dataOffset);
  if (bytes.length < length) return 'short';
  return {
    length,
    flags: bytes[5]!,
    granule: bytes.readBigInt64LE(6),
    lacing,
    data: bytes.subarray(dataOffset, length),
  };
}

/** Encodes a page with its checksum. */
function writeOggPage(
  { flags, granule, lacing, data }: Omit<OggPage, 'length'>,
  serial: number,
  sequence: number,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('OggS', 0, 'latin1');
  header[5] = flags;
  header.writeBigInt64LE(granule, 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(sequence, 18);
  header[26] = lacing.length;
  const page = Buffer.concat([header, lacing, data]);
  page.writeUInt32LE(checksum(page), 22);
  return page;
}

function checksum(bytes: Buffer): number {
  let value = 0;
  for (const byte of bytes) value = (value << 8) ^ TABLE[(value >>> 24) ^ byte]!;
  return value >>> 0;
}
