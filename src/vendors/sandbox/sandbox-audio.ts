import { readFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  Transcript,
  TranscriptionRequest,
  AudioPiece,
  SpeechRequest,
} from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import {
  bytesPerSecond,
  readWaveHeader,
  waveHeader,
  type WaveFormat,
} from '../../platform/audio/wave-file.js';
import { renderTranscript } from '../dialects/audio/transcript.js';
import { speechContentType, PCM_FORMAT } from '../dialects/audio/audio-answer.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { unsupported } from '../upstream-error.js';
import type { WorkCall } from '../upstream.js';

/** Samples per tone at normal pace: 10 ms. */
const SAMPLES_PER_TONE = 240;

const MIN_SAMPLES_PER_TONE = 60;

const MAX_SAMPLES_PER_TONE = 960;

/** Periods of the lowest tone; each of the sixteen has one more than the previous. */
const LOWEST_SWINGS = 6;

const AMPLITUDE = 8_000;

/** The first two samples: this marker, and the number of samples per tone. */
const MARK = 0x5a5;

const PREAMBLE_SAMPLES = 2;

const BYTES_PER_SAMPLE = 2;

const TONE_FORMAT: WaveFormat = PCM_FORMAT;

/** Encodes text as tones of half a byte each, from which it can be decoded. */
export class ToneCode {
  private readonly bytes: Buffer;
  private readonly samplesPerTone: number;
  private readonly tones: readonly Buffer[];

  /** @param speed 1 is normal pace, 100 tones per second */
  constructor(text: string, speed: number) {
    this.bytes = Buffer.from(text);
    const samples = Math.round(SAMPLES_PER_TONE / speed);
    this.samplesPerTone = Math.max(MIN_SAMPLES_PER_TONE, Math.min(MAX_SAMPLES_PER_TONE, samples));
    this.tones = Array.from({ length: 16 }, (_, value) => toneOf(value, this.samplesPerTone));
  }

  get sizeBytes(): number {
    return (PREAMBLE_SAMPLES + this.bytes.length * 2 * this.samplesPerTone) * BYTES_PER_SAMPLE;
  }

  /** Yields the samples, some bytes of text at a time. */
  *pieces(textBytes: number): Generator<Buffer> {
    const preamble = Buffer.alloc(PREAMBLE_SAMPLES * BYTES_PER_SAMPLE);
    preamble.writeInt16LE(MARK, 0);
    preamble.writeInt16LE(this.samplesPerTone, BYTES_PER_SAMPLE);
    yield preamble;
    for (let start = 0; start < this.bytes.length; start += textBytes) {
      const part = this.bytes.subarray(start, start + textBytes);
      yield Buffer.concat(
        Array.from(part, (byte) => [this.tones[byte >> 4]!, this.tones[byte & 15]!]).flat(),
      );
    }
  }
}

/** At most a tenth of a second's work before yielding to other work. */
const TEXT_BYTES_PER_PIECE = 64;

/** Speaks in tones that `transcribeTones` understands, as WAV by default. */
export async function* speakTones({
  request,
  signal,
}: WorkCall<SpeechRequest>): AsyncGenerator<WorkEvent<AudioPiece>> {
  const format = request.body.value.response_format == null ? 'wav' : request.format;
  if (format !== 'wav' && format !== 'pcm') {
    throw unsupported('response_format', `The sandbox does not support ${format}; use wav or pcm.`);
  }
  const code = new ToneCode(request.text, request.speed ?? 1);
  const contentType = speechContentType(format);
  if (format === 'wav') {
    const bytes = waveHeader(TONE_FORMAT, code.sizeBytes);
    yield { type: 'output', output: { contentType, bytes } };
  }
  for (const bytes of code.pieces(TEXT_BYTES_PER_PIECE)) {
    await nextTurn();
    if (signal.aborted) throw new CallAbortedError();
    yield { type: 'output', output: { contentType, bytes } };
  }
  const audioMs = Math.ceil((code.sizeBytes * 1000) / bytesPerSecond(TONE_FORMAT));
  yield { type: 'usage', usage: { ...request.estimate, audioMs } };
}

/** Transcribes speech of the sandbox; for other audio, it only states the duration. */
export async function* transcribeTones({
  request,
}: WorkCall<TranscriptionRequest>): AsyncGenerator<WorkEvent<Transcript>> {
  const { task, audio, format, language } = request;
  const bytes = await readFile(audio.path);
  const wave = readWaveHeader(bytes);
  const spoken =
    wave && readTones(bytes.subarray(wave.dataOffset, wave.dataOffset + wave.dataBytes));
  const audioMs = audio.durationMs ?? request.estimate.audioMs;
  const durationSeconds = audioMs / 1000;
  const text = spoken ?? `Sandbox transcript of ${durationSeconds} seconds of audio.`;
  const parts = { task, text, language: language ?? '', durationSeconds, segments: [] };
  yield { type: 'output', output: renderTranscript(parts, format) };
  yield { type: 'usage', usage: { ...NO_USAGE, audioMs } };
}

/** Decodes a text from samples; undefined when they are not tones. */
export function readTones(samples: Buffer): string | undefined {
  if (samples.length < PREAMBLE_SAMPLES * BYTES_PER_SAMPLE) return undefined;
  const perTone = samples.readInt16LE(BYTES_PER_SAMPLE);
  if (samples.readInt16LE(0) !== MARK) return undefined;
  if (perTone < MIN_SAMPLES_PER_TONE || perTone > MAX_SAMPLES_PER_TONE) return undefined;
  const tones = samples.subarray(PREAMBLE_SAMPLES * BYTES_PER_SAMPLE);
  const bytes = Buffer.alloc(Math.floor(tones.length / (2 * perTone * BYTES_PER_SAMPLE)));
  for (let index = 0; index < bytes.length; index++) {
    const offset = index * 2 * perTone;
    const high = readTone(tones, offset, perTone);
    const low = readTone(tones, offset + perTone, perTone);
    if (high === undefined || low === undefined) return undefined;
    bytes[index] = (high << 4) | low;
  }
  return bytes.toString('utf8');
}

function toneOf(value: number, samples: number): Buffer {
  const swings = LOWEST_SWINGS + value;
  const tone = Buffer.alloc(samples * BYTES_PER_SAMPLE);
  for (let index = 0; index < samples; index++) {
    const phase = (2 * Math.PI * swings * (index + 0.5)) / samples;
    tone.writeInt16LE(Math.round(AMPLITUDE * Math.sin(phase)), index * BYTES_PER_SAMPLE);
  }
  return tone;
}

/** Counts sign changes: a tone starts above zero and ends below. */
function readTone(samples: Buffer, offset: number, length: number): number | undefined {
  let changes = 0;
  let isPositive = true;
  for (let index = offset; index < offset + length; index++) {
    const isNowPositive = samples.readInt16LE(index * BYTES_PER_SAMPLE) >= 0;
    if (isNowPositive !== isPositive) changes++;
    isPositive = isNowPositive;
  }
  const value = (changes + 1) / 2 - LOWEST_SWINGS;
  return Number.isInteger(value) && value >= 0 && value < 16 ? value : undefined;
}
