import { readAacConfig, type FrameTraits } from './aac-config.js';
import { FileWindows } from './file-windows.js';
import {
  MAX_LOSSLESS_BYTES_PER_MS,
  MAX_LOSSY_BYTES_PER_MS,
  MAX_VIDEO_BYTES_PER_MS,
  type SoundLength,
} from './sound-length.js';

/** Boxes whose content is parsed; any other is skipped by its size. */
const CONTAINERS: ReadonlySet<string> = new Set(
  'moov trak mdia minf stbl mvex moof traf'.split(' '),
);
const HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
/** Bytes to read of a box of values; only descriptions of sound are longer. */
const MAX_BOX_BYTES = 4_096;
/** Recordings have a few; this bounds the memory for files that claim millions. */
const MAX_TRACKS = 100;
/** Lossless codecs. */
const LOSSLESS: ReadonlySet<string> = new Set('alac fLaC sowt twos lpcm in24 in32 ipcm'.split(' '));
/** Bytes of a sound description before its own boxes, by version. */
const ENTRY_BYTES: readonly number[] = [36, 52, 72];

/** Flags for the optional fields of `tfhd` and `trun`. */
const BASE_OFFSET = 0x1;
const DESCRIPTION_INDEX = 0x2;
const DEFAULT_DURATION = 0x8;
const DATA_OFFSET = 0x1;
const FIRST_FLAGS = 0x4;
const DURATION_OF_EACH = 0x100;
const FIELDS_OF_EACH = [0x100, 0x200, 0x400, 0x800];

interface Track {
  id: number;
  kind: string;
  /** Time units per second. */
  timescale: number;
  duration: number;
  /** Time units according to the lists of samples. */
  units: number;
  samples: number;
  defaultUnits: number;
  isLossless: boolean;
  /** Undefined when the duration of a sample is unknown. */
  frames: FrameTraits | undefined;
}

/**
 * Measures an MP4 file's sound. Visits all boxes in order, whatever their nesting. Takes the longest of the
 * header's duration, the lists of samples, and for AAC the number of samples times the frame duration. That
 * is only a claim, since decoders find more frames within a sample. Undefined without a sound track.
 */
export function readMp4Length(path: string): Promise<SoundLength | undefined> {
  return FileWindows.read(path, (file) => new Mp4Reader(file).read());
}

class Mp4Reader {
  private readonly tracks: Track[] = [];
  /** Track of the current boxes. */
  private track: Track | undefined;

  constructor(private readonly file: FileWindows) {}

  async read(): Promise<SoundLength | undefined> {
    const { file, tracks } = this;
    let position = 0;
    while (position + HEADER_BYTES <= file.size && tracks.length <= MAX_TRACKS) {
      const header = await file.at(position, LONG_HEADER_BYTES);
      const name = header.toString('latin1', 4, 8);
      const given = header.readUInt32BE();
      const isLong = given === 1 && header.length === LONG_HEADER_BYTES;
      const headerBytes = isLong ? LONG_HEADER_BYTES : HEADER_BYTES;
      const size = isLong ? Number(header.readBigUInt64BE(8)) : given || file.size - position;
      if (size < headerBytes) break;
      const start = position + headerBytes;
      const end = Math.min(position + size, file.size);
      if (CONTAINERS.has(name)) {
        if (name === 'trak') this.begin();
        position = start;
        continue;
      }
      await this.take(name, start, end);
      position += size;
    }
    return lengthOf(tracks);
  }

  private begin(): void {
    this.track = {
      ...{ id: 0, kind: '', timescale: 0, duration: 0, units: 0, samples: 0, defaultUnits: 0 },
      ...{ isLossless: false, frames: undefined },
    };
    this.tracks.push(this.track);
  }

  private async take(name: string, start: number, end: number): Promise<void> {
    const read = READERS[name];
    if (!read) return;
    const box = await this.file.at(start, Math.min(end - start, MAX_BOX_BYTES));
    // Fields beyond a box's end are zero.
    const fields = Buffer.concat([
      box,
      Buffer.alloc(Math.max(0, LONG_HEADER_BYTES * 4 - box.length)),
    ]);
    if (name === 'tfhd' || name === 'trex') {
      this.track = this.tracks.find(({ id }) => id === fields.readUInt32BE(4));
    }
    if (!this.track) return;
    read(this.track, fields);
    if (name === 'stts') await this.addTimes(this.track, fields.readUInt32BE(4), start + 8, end);
    if (name === 'trun') await this.addRun(this.track, fields, start, end);
  }

  /** Adds entries of a number of samples and their duration. */
  private addTimes(track: Track, count: number, start: number, end: number): Promise<void> {
    return this.eachEntry(8, count, start, end, (bytes, at) => {
      track.units += bytes.readUInt32BE(at) * bytes.readUInt32BE(at + 4);
    });
  }

  /** Adds the samples of a fragment. */
  private async addRun(track: Track, fields: Buffer, start: number, end: number): Promise<void> {
    const flags = fields.readUInt32BE();
    const count = fields.readUInt32BE(4);
    track.samples += count;
    if ((flags & DURATION_OF_EACH) === 0) {
      track.units += count * track.defaultUnits;
      return;
    }
    const entryBytes = 4 * FIELDS_OF_EACH.filter((flag) => (flags & flag) !== 0).length;
    const before = [DATA_OFFSET, FIRST_FLAGS].filter((flag) => (flags & flag) !== 0).length;
    await this.eachEntry(entryBytes, count, start + 8 + 4 * before, end, (bytes, at) => {
      track.units += bytes.readUInt32BE(at);
    });
  }

  /** Visits a list of entries of one size, as far as the file contains it. */
  private async eachEntry(
    entryBytes: number,
    count: number,
    start: number,
    end: number,
    take: (bytes: Buffer, at: number) => void,
  ): Promise<void> {
    const perPiece = Math.floor(MAX_BOX_BYTES / entryBytes);
    let left = Math.min(count, Math.floor((end - start) / entryBytes));
    for (let position = start; left > 0; position += perPiece * entryBytes, left -= perPiece) {
      const bytes = await this.file.at(position, Math.min(left, perPiece) * entryBytes);
      for (let at = 0; at + entryBytes <= bytes.length; at += entryBytes) take(bytes, at);
    }
  }
}

/** Readers by box. A box's first byte is its version; version 1 has 8-byte times. */
const READERS: Readonly<Record<string, (track: Track, box: Buffer) => void>> = {
  tkhd: (track, box) => {
    track.id = box.readUInt32BE(box[0] === 1 ? 20 : 12);
  },
  mdhd: (track, box) => {
    const isLong = box[0] === 1;
    track.timescale = box.readUInt32BE(isLong ? 20 : 12);
    const duration = isLong ? Number(box.readBigUInt64BE(24)) : box.readUInt32BE(16);
    // All bits set: unknown.
    track.duration = duration === (isLong ? 2 ** 64 : 2 ** 32 - 1) ? 0 : duration;
  },
  hdlr: (track, box) => {
    // Metadata also has a handler; the track's comes first.
    if (track.kind === '') track.kind = box.toString('latin1', 8, 12);
  },
  stsd: (track, box) => {
    if (track.kind !== 'soun') return;
    track.isLossless = LOSSLESS.has(box.toString('latin1', 12, 16));
    // With several descriptions, lists that are not parsed here would select one.
    if (box.readUInt32BE(4) === 1) track.frames = readFrameTraits(box.subarray(8));
  },
  stsz: (track, box) => {
    track.samples += box.readUInt32BE(8);
  },
  stz2: (track, box) => {
    track.samples += box.readUInt32BE(8);
  },
  trex: (track, box) => {
    track.defaultUnits = box.readUInt32BE(12);
  },
  tfhd: (track, box) => {
    const flags = box.readUInt32BE();
    if ((flags & DEFAULT_DURATION) === 0) return;
    const before =
      ((flags & BASE_OFFSET) === 0 ? 0 : 8) + ((flags & DESCRIPTION_INDEX) === 0 ? 0 : 4);
    track.defaultUnits = box.readUInt32BE(8 + before);
  },
  stts: () => undefined,
  trun: () => undefined,
};

/** Reads the decoder configuration from a description of AAC. */
function readFrameTraits(entry: Buffer): FrameTraits | undefined {
  const end = Math.min(entry.readUInt32BE(), entry.length);
  if (entry.toString('latin1', 4, 8) !== 'mp4a') return undefined;
  let at = ENTRY_BYTES[entry.readUInt16BE(16)] ?? end;
  while (at + HEADER_BYTES <= end) {
    const size = entry.readUInt32BE(at);
    const name = entry.toString('latin1', at + 4, at + 8);
    if (name === 'esds') return readAacConfig(entry.subarray(at + HEADER_BYTES, at + size));
    // QuickTime wraps it.
    at += name === 'wave' ? HEADER_BYTES : Math.max(size, HEADER_BYTES);
  }
  return undefined;
}

function lengthOf(tracks: readonly Track[]): SoundLength | undefined {
  const ofSound = tracks.filter(({ kind }) => kind === 'soun');
  if (ofSound.length === 0 || tracks.length > MAX_TRACKS) return undefined;
  const claimedMs = Math.max(...ofSound.map(claimedMsOf));
  const isLossless = ofSound.some((track) => track.isLossless);
  const hasVideo = tracks.some(({ kind }) => kind === 'vide');
  const maxBytesPerMs = isLossless ? MAX_LOSSLESS_BYTES_PER_MS : MAX_LOSSY_BYTES_PER_MS;
  return {
    claimedMs: claimedMs > 0 ? claimedMs : undefined,
    countedMs: undefined,
    maxBytesPerMs: hasVideo ? MAX_VIDEO_BYTES_PER_MS : maxBytesPerMs,
  };
}

function claimedMsOf({ timescale, duration, units, frames, samples }: Track): number {
  const byTimes = timescale > 0 ? (Math.max(duration, units) * 1_000) / timescale : 0;
  const byFrames = frames ? (samples * frames.samplesOfFrame * 1_000) / frames.sampleRate : 0;
  return Math.max(byTimes, byFrames);
}
