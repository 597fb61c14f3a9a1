import type { CanonicalEvent, WorkEvent } from '../../../canonical/canonical-event.js';
import type {
  AudioPiece,
  MediaRequest,
  SpeechRequest,
  Transcript,
  TranscriptionRequest,
} from '../../../canonical/work-request.js';
import { NO_USAGE } from '../../../canonical/usage.js';
import type { ProviderConfig } from '../../../platform/config/app-config.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { MediaProgress } from '../../media-work.js';
import type { HttpCall, HttpTransport } from '../../transport/http-transport.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import { UpstreamError, unsupported } from '../../upstream-error.js';
import type { ProbeCall, Upstream, UpstreamWork, WorkCall } from '../../upstream.js';
import { parseAnswerObject } from '../answer-json.js';
import { readFailedAnswer, redactKey, type ClassifyError } from '../failed-answer.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { listedModels } from '../listed-models.js';
import { vendorFields } from '../media/media-fields.js';
import { readAudioAnswer } from './audio-answer.js';
import { speakAtLength } from './speak-at-length.js';
import type { TimedWord } from './timed-words.js';
import {
  MAX_TRANSCRIPT_BYTES,
  renderTranscript,
  secondsToMs,
  type TranscriptParts,
} from './transcript.js';

const SPEECH_FIELDS = new Set([
  ...['model', ...GATEWAY_FIELDS],
  ...['input', 'voice', 'response_format', 'speed', 'stream_format'],
]);
const TRANSCRIPTION_FIELDS = new Set([
  ...['model', ...GATEWAY_FIELDS],
  ...['stream', 'language', 'response_format', 'timestamp_granularities'],
]);

/** Features of an audio vendor, for all its models. */
export interface AudioVendorTraits {
  /** Speech formats, in the words of `response_format`. */
  readonly formats: readonly string[];
  readonly speeds: readonly [min: number, max: number];
  /** Code points of text per call of a longer speech. */
  readonly charactersPerCall: number;
  /** Maximum code points for a model; undefined: the gateway's limit. */
  readonly maxCharacters?: (upstreamModel: string) => number;
  /** True when transcripts have word timestamps. */
  readonly givesWords: boolean;
  readonly identifiesSpeakers: boolean;
  /** Supported transcription fields besides the common ones. */
  readonly transcriptionFields?: readonly string[];
  /** Path of a cheap authenticated call, and the member of its answer that lists models. */
  readonly probe: { readonly path: string; readonly models?: string };
  readonly classifyError: ClassifyError;
}

/** An encoded call to a vendor. */
export type EncodedCall = Pick<HttpCall, 'url' | 'headers' | 'body' | 'bodyStream'>;

/** A vendor's parsed transcript. */
export interface ReadTranscript extends Pick<TranscriptParts, 'text' | 'language' | 'segments'> {
  /** The vendor's own figure; undefined when there is none, so that the measured one counts. */
  durationSeconds: number | undefined;
  words?: readonly TimedWord[];
}

/**
 * A vendor with its own API for speech and transcription, and no text generation. Requests are validated
 * before anything is sent, because every call is billed.
 */
export abstract class AudioVendorAdapter implements Upstream {
  protected abstract readonly traits: AudioVendorTraits;
  private readonly headers: Record<string, string>;

  constructor(
    protected readonly provider: ProviderConfig,
    private readonly transport: HttpTransport,
    authorization: Record<string, string>,
  ) {
    this.headers = { 'user-agent': 'model-gateway', ...authorization };
  }

  /** @throws UpstreamError `unsupported` for features that the model lacks */
  protected abstract speechCall(request: SpeechRequest, upstreamModel: string): EncodedCall;

  /** @throws UpstreamError `unsupported` for features that the model lacks */
  protected abstract transcriptCall(
    request: TranscriptionRequest,
    upstreamModel: string,
  ): EncodedCall;

  /** @throws UpstreamError `unreadable` for an invalid transcript */
  protected abstract readTranscript(
    answer: JsonObject,
    request: TranscriptionRequest,
  ): ReadTranscript;

  /** Returns whether the requested voice is replaced by another one. */
  protected replacesVoice(_voice: string): boolean {
    return false;
  }

  droppedParams(): readonly string[] {
    return [];
  }

  // eslint-disable-next-line require-yield
  async *generate(): AsyncGenerator<CanonicalEvent> {
    throw unsupported('model', 'This provider does not generate text.');
  }

  speak(call: WorkCall<SpeechRequest>): UpstreamWork<AudioPiece> {
    const { request } = call;
    return {
      droppedParams: this.droppedOfSpeech(request.body.value, request),
      events: this.hidingKeys(this.speech(call)),
    };
  }

  transcribe(call: WorkCall<TranscriptionRequest>): UpstreamWork<Transcript> {
    const known = new Set([...TRANSCRIPTION_FIELDS, ...(this.traits.transcriptionFields ?? [])]);
    return {
      droppedParams: unknownFields(call.request.body.value, known),
      events: this.hidingKeys(this.transcript(call)),
    };
  }

  droppedMediaParams({ body, ...request }: MediaRequest): readonly string[] {
    if (request.kind !== 'speech') return [];
    return this.droppedOfSpeech(Object.fromEntries(vendorFields(body.value)), request);
  }

  async submitMedia(call: WorkCall<MediaRequest>): Promise<MediaProgress> {
    const { request } = call;
    if (request.kind !== 'speech')
      throw unsupported('model', 'This provider generates only speech.');
    return speakAtLength({ ...call, request }, this.traits.charactersPerCall, (piece) =>
      this.speak(piece),
    );
  }

  async probe(call: ProbeCall): Promise<number | undefined> {
    const { probe, classifyError } = this.traits;
    const { limits, signal } = call;
    const response = await this.transport.call({
      method: 'GET',
      url: this.urlOf(probe.path),
      headers: this.headers,
      limits,
      signal,
    });
    if (response.status !== 200) {
      const error = await readFailedAnswer(response, classifyError);
      throw redactKey(error, this.provider.apiKey);
    }
    return listedModels(response, call, probe.models);
  }

  protected urlOf(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(`${this.provider.baseUrl}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    return url;
  }

  private post(
    { limits, signal }: Pick<HttpCall, 'limits' | 'signal'>,
    { headers, ...call }: EncodedCall,
  ): Promise<UpstreamResponse> {
    return this.transport.call({
      method: 'POST',
      ...call,
      headers: { ...this.headers, ...headers },
      limits,
      signal,
    });
  }

  private async *speech(work: WorkCall<SpeechRequest>): AsyncGenerator<WorkEvent<AudioPiece>> {
    const { request, upstreamModel } = work;
    this.assertSpeaks(request, upstreamModel);
    const response = await this.post(work, this.speechCall(request, upstreamModel));
    yield* readAudioAnswer(response, request, false, this.traits.classifyError);
  }

  private assertSpeaks({ format, speed, estimate }: SpeechRequest, upstreamModel: string): void {
    const { formats, speeds, maxCharacters } = this.traits;
    if (!formats.includes(format)) {
      throw unsupported(
        'response_format',
        `This provider does not support ${format}; use ${formats.join(', ')}.`,
      );
    }
    const [min, max] = speeds;
    if (speed !== undefined && (speed < min || speed > max)) {
      throw unsupported('speed', `\`speed\` must be between ${min} and ${max} for this provider.`);
    }
    const limit = maxCharacters?.(upstreamModel) ?? Infinity;
    if (estimate.inputCharacters > limit) {
      throw new UpstreamError({
        failure: 'context_length',
        message: `\`input\` has ${estimate.inputCharacters} characters; this model takes ${limit} at most.`,
        param: 'input',
      });
    }
  }

  private async *transcript(
    work: WorkCall<TranscriptionRequest>,
  ): AsyncGenerator<WorkEvent<Transcript>> {
    const { request, upstreamModel } = work;
    this.assertListens(request);
    const { identifiesSpeakers, classifyError } = this.traits;
    const response = await this.post(work, this.transcriptCall(request, upstreamModel));
    if (response.status !== 200) throw await readFailedAnswer(response, classifyError);
    const bytes = await response.readAll(MAX_TRANSCRIPT_BYTES);
    const answer = parseAnswerObject(bytes.toString('utf8'), 'a transcript');
    const { durationSeconds, words, ...parts } = this.readTranscript(answer, request);
    const measured = (request.audio.durationMs ?? 0) / 1000;
    const wantsWords = request.timestampGranularities.includes('word');
    const transcript = {
      ...parts,
      words: wantsWords ? words : undefined,
      durationSeconds: durationSeconds ?? measured,
      identifiesSpeakers,
    };
    yield { type: 'output', output: renderTranscript(transcript, request.format) };
    if (durationSeconds !== undefined) {
      yield { type: 'usage', usage: { ...NO_USAGE, audioMs: secondsToMs(durationSeconds) } };
    }
  }

  private assertListens({ task, format, timestampGranularities }: TranscriptionRequest): void {
    const { identifiesSpeakers, givesWords } = this.traits;
    if (task === 'translate') throw unsupported('model', 'This provider does not translate.');
    if (format === 'diarized_json' && !identifiesSpeakers) {
      throw unsupported('response_format', 'This provider does not identify speakers.');
    }
    if (timestampGranularities.includes('word') && !givesWords) {
      throw unsupported(
        'timestamp_granularities',
        'This provider does not return word timestamps.',
      );
    }
  }

  private droppedOfSpeech(
    value: Readonly<Record<string, unknown>>,
    { voice, instructions }: Pick<SpeechRequest, 'voice' | 'instructions'>,
  ): string[] {
    const dropped = unknownFields(value, SPEECH_FIELDS);
    if (voice !== undefined && this.replacesVoice(voice)) dropped.push('voice');
    if (instructions !== undefined && !dropped.includes('instructions')) {
      dropped.push('instructions');
    }
    return dropped;
  }

  private async *hidingKeys<Event>(events: AsyncIterable<Event>): AsyncGenerator<Event> {
    try {
      yield* events;
    } catch (error) {
      throw redactKey(error, this.provider.apiKey);
    }
  }
}

function unknownFields(
  value: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): string[] {
  return Object.keys(value).filter((name) => value[name] != null && !known.has(name));
}
