import { FileWindows } from './file-windows.js';
import { opusSamples } from './opus-packets.js';
import {
  MAX_LOSSY_BYTES_PER_MS,
  MAX_VIDEO_BYTES_PER_MS,
  type SoundLength,
} from './sound-length.js';

/** Elements whose content is parsed; any other is skipped by its size. */
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const TRACK = 0xae;
const CONTAINERS: ReadonlySet<number> = new Set([
  ...[SEGMENT, CLUSTER, TRACK],
  ...[0x1549a966 /* Info */, 0x1654ae6b /* Tracks */, 0xa0 /* BlockGroup */],
]);
/** Elements of unknown size in live recordings. */
const MAY_BE_OPEN: ReadonlySet<number> = new Set([SEGMENT, CLUSTER]);

const TIMECODE_SCALE = 0x2ad7b1;
const DURATION = 0x4489;
const TRACK_NUMBER = 0xd7;
const TRACK_TYPE = 0x83;
const CODEC = 0x86;
const TIMECODE = 0xe7;
const BLOCKS: ReadonlySet<number> = new Set([0xa3, 0xa1]);

const VIDEO = 1;
const SOUND = 2;
const LACING = 0x06;
const OPUS_SAMPLES_PER_MS = 48;
const DEFAULT_SCALE_NS = 1_000_000;
const NS_PER_MS = 1_000_000;

/** An id of up to 4 bytes and a size of up to 8. */
const MAX_HEADER_BYTES = 12;
/** Bytes to read of a value or block: a block's track, time, flags and the first two bytes of its sound. */
const MAX_VALUE_BYTES = 16;
/** More than ten-byte packets that fit into an upload. */
const MAX_ELEMENTS = 2_000_000;
/** Recordings have two; this bounds the memory for files that claim millions. */
const MAX_TRACKS = 100;

interface Track {
  number: number;
  type: number;
  isOpus: boolean;
}

/**
 * Measures a WebM or Matroska file's sound. Visits all elements in order, whatever their nesting. Takes the
 * longest of the file's duration, the time of its last block, and for Opus its packets. That is only a
 * claim, since decoders find more packets where others see damage. Undefined without tracks.
 */
export function readWebmLength(path: string): Promise<SoundLength | undefined> {
  return FileWindows.read(path, (file) => new WebmReader(file).read());
}

class WebmReader {
  private readonly tracks: Track[] = [];
  private scaleNs = DEFAULT_SCALE_NS;
  private duration = 0;
  private clusterTime = 0;
  private lastTime = 0;
  private opusSamples = 0;

  constructor(private readonly file: FileWindows) {}

  async read(): Promise<SoundLength | undefined> {
    const { file, tracks } = this;
    let position = 0;
    let elements = 0;
    while (position < file.size) {
      const header = readHeader(await file.at(position, MAX_HEADER_BYTES));
      if (!header || tracks.length > MAX_TRACKS || ++elements > MAX_ELEMENTS) break;
      const { id, size } = header;
      position += header.length;
      if (!CONTAINERS.has(id)) {
        if (size < MAX_VALUE_BYTES || BLOCKS.has(id)) {
          this.take(id, await file.at(position, Math.min(size, MAX_VALUE_BYTES)));
        }
        position += size;
      } else if (id === TRACK) {
        tracks.push({ number: 0, type: 0, isOpus: false });
      }
    }
    return this.length();
  }

  private length(): SoundLength | undefined {
    const { tracks } = this;
    if (tracks.length === 0) return undefined;
    const byTimes = (Math.max(this.duration, this.lastTime) * this.scaleNs) / NS_PER_MS;
    const claimedMs = Math.max(byTimes, this.opusSamples / OPUS_SAMPLES_PER_MS);
    const hasVideo = tracks.some(({ type }) => type === VIDEO);
    return {
      claimedMs: claimedMs > 0 ? claimedMs : undefined,
      countedMs: undefined,
      maxBytesPerMs: hasVideo ? MAX_VIDEO_BYTES_PER_MS : MAX_LOSSY_BYTES_PER_MS,
    };
  }

  private take(id: number, value: Buffer): void {
    const track = this.tracks.at(-1);
    if (BLOCKS.has(id)) this.takeBlock(value);
    else if (id === TIMECODE) this.clusterTime = toNumber(value);
    else if (id === TIMECODE_SCALE) this.scaleNs = toNumber(value);
    else if (id === DURATION) this.duration = Math.max(this.duration, toFloat(value));
    else if (track && id === TRACK_NUMBER) track.number = toNumber(value);
    else if (track && id === TRACK_TYPE) track.type = toNumber(value);
    else if (track && id === CODEC) track.isOpus = value.toString('latin1') === 'A_OPUS';
  }

  /** Reads a track number, the time in the cluster, flags, and the sound. */
  private takeBlock(block: Buffer): void {
    const number = readVint(block, 0);
    if (!number || block.length < number.length + 4) return;
    const track = this.tracks.find((known) => known.number === number.value);
    if (track?.type !== SOUND) return;
    const timeAt = number.length;
    this.lastTime = Math.max(this.lastTime, this.clusterTime + block.readInt16BE(timeAt));
    if (!track.isOpus || (block[timeAt + 2]! & LACING) !== 0) return;
    this.opusSamples += opusSamples(block[timeAt + 3]!, block[timeAt + 4]!);
  }
}

interface ElementHeader {
  id: number;
  size: number;
  length: number;
}

/** Returns undefined where no element begins, and for an open element that needs a size. */
function readHeader(bytes: Buffer): ElementHeader | undefined {
  const idBytes = widthAt(bytes, 0);
  if (idBytes === undefined || idBytes > 4 || bytes.length <= idBytes) return undefined;
  const id = bytes.readUIntBE(0, idBytes);
  const size = readVint(bytes, idBytes);
  if (!size) return undefined;
  const length = idBytes + size.length;
  if (!size.isOpen) return { id, size: size.value, length };
  return MAY_BE_OPEN.has(id) ? { id, size: 0, length } : undefined;
}

/** Returns the bytes of a number, encoded in the leading zeros of its first byte. */
function widthAt(bytes: Buffer, offset: number): number | undefined {
  const first = bytes[offset];
  return first === undefined || first === 0 ? undefined : Math.clz32(first) - 23;
}

/** Reads a variable-length number; `isOpen` when all its bits are set, which means unknown. */
function readVint(
  bytes: Buffer,
  offset: number,
): { value: number; length: number; isOpen: boolean } | undefined {
  const length = widthAt(bytes, offset);
  if (length === undefined || bytes.length < offset + length) return undefined;
  let value = bytes[offset]! & (0xff >> length);
  let isOpen = value === 0xff >> length;
  for (let index = 1; index < length; index++) {
    const byte = bytes[offset + index]!;
    value = value * 256 + byte;
    isOpen &&= byte === 0xff;
  }
  return { value, length, isOpen };
}

function toNumber(value: Buffer): number {
  return value.length === 0 || value.length > 6 ? 0 : value.readUIntBE(0, value.length);
}

function toFloat(value: Buffer): number {
  if (value.length === 4) return value.readFloatBE();
  return value.length === 8 ? value.readDoubleBE() : 0;
}
