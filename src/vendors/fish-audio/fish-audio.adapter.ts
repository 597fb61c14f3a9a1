import { listedModels } from '../dialects/listed-models.js';
import type { CanonicalEvent, WorkEvent } from '../../canonical/canonical-event.js';
import type {
  MediaRequest,
  Transcript,
  TranscriptionRequest,
  AudioPiece,
  SpeechRequest,
} from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { readAudioAnswer, PCM_FORMAT } from '../dialects/audio/audio-answer.js';
import { multipartBody } from '../dialects/multipart-body.js';
import {
  readSeconds,
  readSegments,
  renderTranscript,
  secondsToMs,
} from '../dialects/audio/transcript.js';
import { speakAtLength } from '../dialects/audio/speak-at-length.js';
import { parseAnswerObject, listOf } from '../dialects/answer-json.js';
import { vendorFields } from '../dialects/media/media-fields.js';
import { readFailedAnswer, redactKey } from '../dialects/failed-answer.js';
import type { MediaProgress } from '../media-work.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { type UpstreamError, unsupported, unreadable } from '../upstream-error.js';
import type { ProbeCall, Upstream, UpstreamWork, WorkCall } from '../upstream.js';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../platform/http/json-body.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';

/** Names of fields here, by the vendor's. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'input'],
  ['reference_id', 'voice'],
  ['format', 'response_format'],
  ['prosody', 'speed'],
  ['audio', 'file'],
]);

/** The vendor takes more, though the longer the text the later its first sound. */
const MAX_CHARACTERS_OF_CALL = 4_096;
const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024;
const FORMATS = new Set(['mp3', 'wav', 'pcm', 'opus']);
const MIN_SPEED = 0.5;
const MAX_SPEED = 2;
/** How the vendor names the voices of its library; any other name is one of another vendor's. */
const VOICE_ID = /^[0-9a-f]{32}$/;
const SPEECH_FIELDS = new Set([
  'model',
  'models',
  'provider',
  'route',
  'trace',
  'input',
  'voice',
  'response_format',
  'speed',
  'stream_format',
]);
const TRANSCRIPTION_FIELDS = new Set([
  'model',
  'models',
  'provider',
  'route',
  'trace',
  'stream',
  'language',
  'response_format',
  'timestamp_granularities',
]);

/** Fish Audio: speech billed by the UTF-8 byte, and transcripts with segments. It generates no text. */
export class FishAudioAdapter implements Upstream {
  private readonly authorization: Record<string, string>;

  constructor(
    private readonly provider: ProviderConfig,
    private readonly transport: HttpTransport,
  ) {
    this.authorization = {
      'user-agent': 'model-gateway',
      ...(provider.apiKey !== undefined && { authorization: `Bearer ${provider.apiKey}` }),
    };
  }

  droppedParams(): readonly string[] {
    return [];
  }

  // eslint-disable-next-line require-yield
  async *generate(): AsyncGenerator<CanonicalEvent> {
    throw unsupported('model', 'This provider generates no text.');
  }

  speak(call: WorkCall<SpeechRequest>): UpstreamWork<AudioPiece> {
    const { request } = call;
    return {
      droppedParams: droppedOfSpeech(request.body.value, request),
      events: this.hidingKeys(this.speech(call)),
    };
  }

  transcribe(call: WorkCall<TranscriptionRequest>): UpstreamWork<Transcript> {
    return {
      droppedParams: leftOver(call.request.body.value, TRANSCRIPTION_FIELDS),
      events: this.hidingKeys(this.transcript(call)),
    };
  }

  droppedMediaParams({ body, ...request }: MediaRequest): readonly string[] {
    if (request.kind !== 'speech') return [];
    return droppedOfSpeech(Object.fromEntries(vendorFields(body.value)), request);
  }

  async submitMedia(call: WorkCall<MediaRequest>): Promise<MediaProgress> {
    const { request } = call;
    if (request.kind !== 'speech') throw unsupported('model', 'This provider only speaks.');
    return speakAtLength({ ...call, request }, MAX_CHARACTERS_OF_CALL, (piece) =>
      this.speak(piece),
    );
  }

  async probe(call: ProbeCall): Promise<number | undefined> {
    const { limits, signal } = call;
    const response = await this.transport.call({
      method: 'GET',
      url: new URL(`${this.provider.baseUrl}/wallet/self/api-credit`),
      headers: this.authorization,
      limits,
      signal,
    });
    if (response.status !== 200) {
      const error = await readFailedAnswer(response, classifyFishAudioError);
      throw redactKey(error, this.provider.apiKey);
    }
    return listedModels(response, call, undefined);
  }

  private async *speech({
    request,
    upstreamModel,
    limits,
    signal,
  }: WorkCall<SpeechRequest>): AsyncGenerator<WorkEvent<AudioPiece>> {
    const { format, speed, voice, text } = request;
    if (!FORMATS.has(format)) {
      throw unsupported('response_format', `This provider makes no ${format}.`);
    }
    if (speed !== undefined && (speed < MIN_SPEED || speed > MAX_SPEED)) {
      throw unsupported('speed', `This provider speaks at ${MIN_SPEED} to ${MAX_SPEED}.`);
    }
    const response = await this.transport.call({
      method: 'POST',
      url: new URL(`${this.provider.baseUrl}/v1/tts`),
      headers: {
        ...this.authorization,
        'content-type': 'application/json',
        model: upstreamModel,
      },
      body: Buffer.from(
        JSON.stringify({
          text,
          format,
          ...(voice !== undefined && VOICE_ID.test(voice) && { reference_id: voice }),
          ...(format === 'pcm' && { sample_rate: PCM_FORMAT.sampleRate }),
          ...(speed !== undefined && { prosody: { speed } }),
        }),
      ),
      limits,
      signal,
    });
    yield* readAudioAnswer(response, request, false, classifyFishAudioError);
  }

  private async *transcript({
    request,
    limits,
    signal,
  }: WorkCall<TranscriptionRequest>): AsyncGenerator<WorkEvent<Transcript>> {
    const { audio, format, language } = request;
    // Before anything is sent: the vendor bills what it has heard.
    if (request.task === 'translate')
      throw unsupported('model', 'This provider translates nothing.');
    if (format === 'diarized_json') {
      throw unsupported('response_format', 'This provider does not tell speakers apart.');
    }
    if (request.timestampGranularities.includes('word')) {
      throw unsupported('timestamp_granularities', 'This provider gives no times of words.');
    }
    const needsTimes = format !== 'json' && format !== 'text';
    const fields: [string, string][] = [['ignore_timestamps', needsTimes ? 'false' : 'true']];
    if (language !== undefined) fields.push(['language', language]);
    const body = multipartBody(fields, [['audio', audio]]);
    const response = await this.transport.call({
      method: 'POST',
      url: new URL(`${this.provider.baseUrl}/v1/asr`),
      headers: { ...this.authorization, ...body.headers },
      bodyStream: body.stream,
      limits,
      signal,
    });
    if (response.status !== 200) throw await readFailedAnswer(response, classifyFishAudioError);
    const bytes = await response.readAll(MAX_TRANSCRIPT_BYTES);
    const answer = parseAnswerObject(bytes.toString('utf8'), 'a transcript');
    const { text } = answer;
    if (typeof text !== 'string') {
      throw unreadable('a transcript without its text');
    }
    const reported = lengthOf(readSeconds(answer.duration), audio.durationMs);
    const durationSeconds = reported ?? (audio.durationMs ?? 0) / 1000;
    const parts = {
      text,
      language: language ?? '',
      durationSeconds,
      segments: readSegments(answer.segments),
    };
    yield { type: 'output', output: renderTranscript(parts, format) };
    if (reported !== undefined) {
      yield { type: 'usage', usage: { ...NO_USAGE, audioMs: secondsToMs(reported) } };
    }
  }

  private async *hidingKeys<Event>(events: AsyncIterable<Event>): AsyncGenerator<Event> {
    try {
      yield* events;
    } catch (error) {
      throw redactKey(error, this.provider.apiKey);
    }
  }
}

/**
 * The vendor's figure in seconds. Its reference says seconds and some of its clients milliseconds, so
 * a figure is read as the unit in which it comes nearer to what was measured.
 */
function lengthOf(
  reported: number | undefined,
  measuredMs: number | undefined,
): number | undefined {
  if (reported === undefined || measuredMs === undefined) return reported;
  const offInSeconds = Math.abs(reported * 1000 - measuredMs);
  const offInMs = Math.abs(reported - measuredMs);
  return offInMs < offInSeconds ? reported / 1000 : reported;
}

function droppedOfSpeech(
  value: Readonly<Record<string, unknown>>,
  { voice, instructions }: Pick<SpeechRequest, 'voice' | 'instructions'>,
): string[] {
  const dropped = leftOver(value, SPEECH_FIELDS);
  if (voice !== undefined && !VOICE_ID.test(voice)) dropped.push('voice');
  if (instructions !== undefined && !dropped.includes('instructions')) {
    dropped.push('instructions');
  }
  return dropped;
}

function leftOver(value: Readonly<Record<string, unknown>>, known: ReadonlySet<string>): string[] {
  return Object.keys(value).filter((name) => value[name] != null && !known.has(name));
}

/**
 * Whose fault a failed answer is. The vendor writes `{status, message}`, and of fields that it refuses
 * a list with each one's place and problem.
 */
function classifyFishAudioError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const [first] = listOf(body);
  if (!isJsonObject(first)) return classifyChatError(status, headers, body);
  const place = listOf(first.loc);
  const field = place.find((step) => typeof step === 'string' && step !== 'body');
  return classifyChatError(status, headers, {
    message: first.msg,
    param: FIELDS.get(field) ?? field,
  });
}
