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
import { bytesPerSecond, readWaveHeader, waveHeader } from '../../platform/audio/wave-file.js';
import { renderTranscript } from '../dialects/audio/render-transcript.js';
import { speechContentType } from '../dialects/audio/speech-formats.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { WorkCall } from '../upstream.js';
import { TONE_FORMAT, ToneCode, readTones } from './tone-code.js';

/** A tenth of a second's work or less, after which others have their turn. */
const TEXT_BYTES_PER_PIECE = 64;

/** Speaks in tones that `transcribeTones` understands. A caller who names no format gets WAV. */
export async function* speakTones({
  request,
  signal,
}: WorkCall<SpeechRequest>): AsyncGenerator<WorkEvent<AudioPiece>> {
  const format = request.body.value.response_format == null ? 'wav' : request.format;
  if (format !== 'wav' && format !== 'pcm') {
    throw new UpstreamError({
      failure: 'unsupported',
      message: `The sandbox speaks wav and pcm, not ${format}.`,
      param: 'response_format',
    });
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

/** Writes down what the sandbox spoke; of other audio it only says how long it is. */
export async function* transcribeTones({
  request,
}: WorkCall<TranscriptionRequest>): AsyncGenerator<WorkEvent<Transcript>> {
  const { audio, format, language } = request;
  const bytes = await readFile(audio.path);
  const wave = readWaveHeader(bytes);
  const spoken =
    wave && readTones(bytes.subarray(wave.dataOffset, wave.dataOffset + wave.dataBytes));
  const audioMs = audio.durationMs ?? request.estimate.audioMs;
  const durationSeconds = audioMs / 1000;
  const text = spoken ?? `Sandbox transcript of ${durationSeconds} seconds of audio.`;
  const parts = { text, language: language ?? '', durationSeconds, segments: [] };
  yield { type: 'output', output: renderTranscript(parts, format) };
  yield { type: 'usage', usage: { ...NO_USAGE, audioMs } };
}
