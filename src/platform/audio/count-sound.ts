import { MAX_HEADER_BYTES, readFlacFrame } from './flac-frames.js';
import { opusSamples } from './opus-packets.js';
import type { SoundCounter } from './sound-counter.js';
import {
  MAX_LOSSLESS_BYTES_PER_MS,
  MAX_LOSSY_BYTES_PER_MS,
  type SoundLength,
} from './sound-length.js';

const PAGE_HEADER_BYTES = 27;
/** A page with the most segments and data. */
const MAX_PAGE_BYTES = PAGE_HEADER_BYTES + 255 + 255 * 255;
const CONTINUED = 1;
const FIRST = 2;
const OPUS_RATE = 48_000;
/** Recordings have one or two; this bounds the memory for files that claim millions. */
const MAX_STREAMS = 1_000;
const OPUS_HEADERS: ReadonlySet<string> = new Set(['OpusHead', 'OpusTags']);

/** Offset of a FLAC file's rate, channels, bits and samples: 20, 3, 5 and 36 bits. */
const FLAC_STREAM_OFFSET = 18;
/** Overhead of frames whose samples cannot be compressed. */
const FRAMING = 1.05;

/** Other codecs in Ogg: how their first packet begins, and the offset of the sample rate in it. */
const OGG_RATES: readonly [start: string, offset: number][] = [
  ['\x01vorbis', 12],
  ['Speex   ', 36],
];

/**
 * Measures FLAC by the frames that a decoder finds, whatever the header says. Counts every frame whose
 * header has a valid checksum, at the lower of the rates of stream and frame, since decoders differ in
 * which they follow.
 */
export class FlacCounter implements SoundCounter {
  readonly marginBytes = MAX_HEADER_BYTES;
  private stream: FlacStream | undefined;
  private ms = 0;

  scan(bytes: Buffer, end: number): boolean {
    this.stream ??= readFlacStream(bytes);
    if (!this.stream) return false;
    const { sampleRate: streamRate } = this.stream;
    for (let at = bytes.indexOf(0xff); at !== -1 && at < end; at = bytes.indexOf(0xff, at + 1)) {
      const frame = readFlacFrame(bytes, at);
      if (!frame || frame === 'short') continue;
      const rate = Math.min(frame.sampleRate || streamRate, streamRate || frame.sampleRate);
      if (rate > 0) this.ms += (frame.blockSize * 1_000) / rate;
    }
    return true;
  }

  read(): SoundLength | undefined {
    return this.stream && { ...this.stream, countedMs: this.ms || undefined };
  }
}

interface FlacStream extends Omit<SoundLength, 'countedMs'> {
  sampleRate: number;
}

function readFlacStream(bytes: Buffer): FlacStream | undefined {
  if (bytes.length < FLAC_STREAM_OFFSET + 8 || bytes.toString('latin1', 0, 4) !== 'fLaC')
    return undefined;
  const fields = bytes.readBigUInt64BE(FLAC_STREAM_OFFSET);
  const sampleRate = Number(fields >> 44n);
  const channels = Number((fields >> 41n) & 7n) + 1;
  const bits = Number((fields >> 36n) & 31n) + 1;
  const samples = Number(fields & 0xf_ffff_ffffn);
  const unpacked = (sampleRate * channels * bits * FRAMING) / 8_000;
  return {
    sampleRate,
    claimedMs: sampleRate > 0 && samples > 0 ? (samples * 1_000) / sampleRate : undefined,
    maxBytesPerMs: Math.min(unpacked || MAX_LOSSLESS_BYTES_PER_MS, MAX_LOSSLESS_BYTES_PER_MS),
  };
}

/**
 * Measures Ogg. Opus is counted by the durations in its packets, which decoders follow; for other codecs
 * the last timestamp is a claim. Finds pages everywhere, also within others, because decoders resume
 * inside damaged pages.
 */
export class OggCounter implements SoundCounter {
  readonly marginBytes = MAX_PAGE_BYTES;
  private readonly streams = new Map<number, OggStream>();
  private samples = 0;
  private claimedMs = 0;
  private isOpus = true;

  scan(bytes: Buffer, end: number): boolean {
    const { streams } = this;
    for (
      let at = bytes.indexOf('OggS');
      at !== -1 && at < end;
      at = bytes.indexOf('OggS', at + 4)
    ) {
      const dataOffset = at + PAGE_HEADER_BYTES + bytes[at + 26]!;
      const serial = bytes.readUInt32LE(at + 14);
      if ((bytes[at + 5]! & FIRST) !== 0 || !streams.has(serial)) {
        this.isOpus &&= streams.size < MAX_STREAMS;
        if (streams.size >= MAX_STREAMS) return false;
        this.isOpus &&= bytes.toString('latin1', dataOffset, dataOffset + 8) === 'OpusHead';
        streams.set(serial, readOggStream(bytes, dataOffset, this.isOpus));
      }
      // -1: no packet ends on this page.
      const granule = Number(bytes.readBigInt64LE(at + 6));
      const { sampleRate, skipped } = streams.get(serial)!;
      if (sampleRate > 0)
        this.claimedMs = Math.max(this.claimedMs, ((granule - skipped) * 1_000) / sampleRate);
      if (this.isOpus) this.samples += samplesOfPage(bytes, at, dataOffset);
    }
    return true;
  }

  read(): SoundLength | undefined {
    if (this.streams.size === 0) return undefined;
    const { claimedMs, isOpus, samples } = this;
    return {
      claimedMs: claimedMs > 0 ? claimedMs : undefined,
      countedMs: isOpus && samples > 0 ? (samples * 1_000) / OPUS_RATE : undefined,
      maxBytesPerMs: MAX_LOSSY_BYTES_PER_MS,
    };
  }
}

interface OggStream {
  /** Samples per second; 0 for unknown codecs. */
  sampleRate: number;
  /** Samples that the encoder inserted before the sound. */
  skipped: number;
}

function readOggStream(bytes: Buffer, offset: number, isOpus: boolean): OggStream {
  if (isOpus) return { sampleRate: OPUS_RATE, skipped: bytes.readUInt16LE(offset + 10) };
  const start = bytes.toString('latin1', offset, offset + 8);
  const found = OGG_RATES.find(([coding]) => start.startsWith(coding));
  return { sampleRate: found ? bytes.readUInt32LE(offset + found[1]) : 0, skipped: 0 };
}

function samplesOfPage(bytes: Buffer, page: number, dataOffset: number): number {
  let samples = 0;
  let offset = dataOffset;
  let isStart = (bytes[page + 5]! & CONTINUED) === 0;
  for (let index = page + PAGE_HEADER_BYTES; index < dataOffset; index++) {
    const part = bytes[index]!;
    if (isStart && part > 0 && !isOpusHeader(bytes, offset)) {
      samples += opusSamples(bytes[offset]!, bytes[offset + 1]!);
    }
    offset += part;
    isStart = part < 255;
  }
  return samples;
}

function isOpusHeader(bytes: Buffer, offset: number): boolean {
  return bytes[offset] === 0x4f && OPUS_HEADERS.has(bytes.toString('latin1', offset, offset + 8));
}
