import { FileWindows } from './file-windows.js';
import { opusSamples } from './opus-packets.js';
import {
  MAX_LOSSY_BYTES_PER_MS,
  MAX_VIDEO_BYTES_PER_MS,
  type SoundLength,
} from './sound-length.js';

/** What is gone into; anything else is passed over by its size. */
const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const TRACK = 0xae;
const CONTAINERS: ReadonlySet<number> = new Set([
  ...[SEGMENT, CLUSTER, TRACK],
  ...[0x1549a966 /* Info */, 0x1654ae6b /* Tracks */, 0xa0 /* BlockGroup */],
]);
/** A live recording does not know how long these will be. */
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
/** Of a value, or of a block, what is looked at: its track, time, flags and the first two bytes of its sound. */
const MAX_VALUE_BYTES = 16;
/** More than packets of ten bytes have room for in an upload. */
const MAX_ELEMENTS = 2_000_000;
/** Recordings have two; who claims millions has them for our memory. */
const MAX_TRACKS = 100;

interface Track {
  number: number;
  type: number;
  isOpus: boolean;
}

/**
 * The length of a WebM or Matroska file's sound. Its elements are gone through one after the other, whatever they are
 * nested in. The longest counts of what it says, the time of its last block, and for Opus its packets; that is no
 * count, since decoders find further ones where others see damage. Undefined where it has no tracks.
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

  /** A track's number, the time in the cluster, flags, and the sound. */
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

/** Undefined where none begins, and for one without a size that has to have one. */
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

/** How many bytes a number takes, by the zeros that its first byte begins with. */
function widthAt(bytes: Buffer, offset: number): number | undefined {
  const first = bytes[offset];
  return first === undefined || first === 0 ? undefined : Math.clz32(first) - 23;
}

/** A number that tells its own width; `isOpen` where all its bits are set, which stands for none. */
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
