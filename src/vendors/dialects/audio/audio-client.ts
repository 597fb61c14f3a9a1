import type {
  Transcript,
  TranscriptionRequest,
  AudioPiece,
  SpeechRequest,
} from '../../../canonical/work-request.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { MediaDone } from '../../media-work.js';
import type { HttpTransport } from '../../transport/http-transport.js';
import { UpstreamError } from '../../upstream-error.js';
import type { UpstreamWork, WorkCall } from '../../upstream.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { readFailedAnswer, redactKey } from '../failed-answer.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';
import { readAudioAnswer } from './audio-answer.js';
import { multipartBody } from '../multipart-body.js';
import { isUnstreamed } from '../read-event-stream.js';
import { JSON_FORMATS, MAX_TRANSCRIPT_BYTES, readTranscript } from './transcript.js';
import { readTranscriptEvents } from './transcript-events.js';
import { speakAtLength } from './speak-at-length.js';

/** Fields that are the gateway's own, or another gateway's, or that are set below. */
const NOT_FORWARDED = new Set([
  'model',
  ...GATEWAY_FIELDS,
  'stream',
  'stream_format',
  'response_format',
  'instructions',
]);

/** Where a server does not say how much it takes at once. */
const MAX_CHARACTERS_OF_CALL = 4_096;

/** What is particular about a model that speaks. */
export interface SpeechTraits {
  takesInstructions: boolean;
  /** Billed by the length of what it speaks, which is measured in passing then. */
  isBilledByLength: boolean;
  /** Code points of text that it takes at most; undefined: the vendor judges. */
  maxCharacters: number | undefined;
}

/** A server that speaks the common audio API. */
interface AudioServer {
  speechUrl: URL;
  transcriptionsUrl: URL;
  translationsUrl: URL;
  authorization: Record<string, string>;
  apiKey: string | undefined;
  speechTraits(upstreamModel: string): SpeechTraits;
  /** Whether the model spells transcripts with times, which also say how long the audio was. */
  givesSegments(upstreamModel: string): boolean;
}

/** Speech and transcripts of a server whose API is the one that callers use here. */
export class AudioClient {
  constructor(
    private readonly server: AudioServer,
    private readonly transport: HttpTransport,
  ) {}

  speak(call: WorkCall<SpeechRequest>): UpstreamWork<AudioPiece> {
    const traits = this.server.speechTraits(call.upstreamModel);
    return {
      droppedParams: this.droppedParams(call.request, call.upstreamModel),
      events: this.hidingKeys(this.speech(call, traits)),
    };
  }

  droppedParams({ instructions }: SpeechRequest, upstreamModel: string): readonly string[] {
    const { takesInstructions } = this.server.speechTraits(upstreamModel);
    return instructions !== undefined && !takesInstructions ? ['instructions'] : [];
  }

  /** Speech of any length, in one file. @throws UpstreamError */
  submitSpeech(call: WorkCall<SpeechRequest>): Promise<MediaDone> {
    const { maxCharacters = MAX_CHARACTERS_OF_CALL } = this.server.speechTraits(call.upstreamModel);
    return speakAtLength(call, maxCharacters, (piece) => this.speak(piece));
  }

  transcribe(call: WorkCall<TranscriptionRequest>): UpstreamWork<Transcript> {
    return { droppedParams: [], events: this.hidingKeys(this.transcript(call)) };
  }

  private async *speech(
    { request, upstreamModel, limits, signal }: WorkCall<SpeechRequest>,
    traits: SpeechTraits,
  ): AsyncGenerator<WorkEvent<AudioPiece>> {
    const { maxCharacters } = traits;
    if (maxCharacters !== undefined && request.estimate.inputCharacters > maxCharacters) {
      throw new UpstreamError({
        failure: 'context_length',
        message: `\`input\` has ${request.estimate.inputCharacters} characters; this model takes ${maxCharacters} at most.`,
        param: 'input',
      });
    }
    const response = await this.transport.call({
      method: 'POST',
      url: this.server.speechUrl,
      headers: { ...this.headers(), 'content-type': 'application/json' },
      body: encodeSpeech(request, upstreamModel, traits.takesInstructions),
      limits,
      signal,
    });
    yield* readAudioAnswer(response, request, traits.isBilledByLength);
  }

  private async *transcript({
    request,
    upstreamModel,
    limits,
    signal,
  }: WorkCall<TranscriptionRequest>): AsyncGenerator<WorkEvent<Transcript>> {
    const asked: AskedFormat = this.formatToAsk(request.format, upstreamModel);
    const fields = encodeTranscription(request, upstreamModel, asked);
    const body = multipartBody(fields, [['file', request.audio]]);
    const response = await this.transport.call({
      method: 'POST',
      url:
        request.task === 'translate' ? this.server.translationsUrl : this.server.transcriptionsUrl,
      headers: { ...this.headers(), ...body.headers },
      bodyStream: body.stream,
      limits,
      signal,
    });
    if (response.status !== 200) throw await readFailedAnswer(response, classifyChatError);
    // Some models take no notice of the wish.
    if (request.stream && !isUnstreamed(response)) {
      yield* readTranscriptEvents(response);
      return;
    }
    const bytes = await response.readAll(MAX_TRANSCRIPT_BYTES);
    const { transcript, usage } = readTranscript(bytes, asked, request);
    yield { type: 'output', output: transcript };
    if (usage) yield { type: 'usage', usage };
  }

  /**
   * Plain text and subtitles do not say how long the audio was, and what an upload says of itself is
   * not to be billed by. So the long form is asked for, and spelled here.
   */
  private formatToAsk(format: string, upstreamModel: string): AskedFormat {
    if (JSON_FORMATS.has(format)) return format;
    if (this.server.givesSegments(upstreamModel)) return 'verbose_json';
    return format === 'text' ? 'json' : format;
  }

  private headers(): Record<string, string> {
    return { 'user-agent': 'model-gateway', ...this.server.authorization };
  }

  private async *hidingKeys<Event>(events: AsyncIterable<Event>): AsyncGenerator<Event> {
    try {
      yield* events;
    } catch (error) {
      throw redactKey(error, this.server.apiKey);
    }
  }
}

/** The format that a vendor is asked for, which may differ from the caller's. */
type AskedFormat = string;

/** Fields that the gateway does not know go along: the dialect is the caller's. */
function encodeSpeech(
  request: SpeechRequest,
  upstreamModel: string,
  takesInstructions: boolean,
): Buffer {
  const rest = Object.entries(request.body.value).filter(
    ([name, value]) => !NOT_FORWARDED.has(name) && value != null,
  );
  const { instructions, format } = request;
  return Buffer.from(
    JSON.stringify({
      ...Object.fromEntries(rest),
      model: upstreamModel,
      response_format: format,
      ...(takesInstructions && instructions !== undefined && { instructions }),
    }),
  );
}

/** The form's fields in order, the file apart. */
function encodeTranscription(
  request: TranscriptionRequest,
  upstreamModel: string,
  format: AskedFormat,
): [string, unknown][] {
  const fields: [string, unknown][] = [
    ['model', upstreamModel],
    ['response_format', format],
  ];
  if (request.stream) fields.push(['stream', true]);
  for (const [name, value] of Object.entries(request.body.value)) {
    if (NOT_FORWARDED.has(name) || value == null) continue;
    if (Array.isArray(value)) {
      for (const item of value) fields.push([`${name}[]`, item]);
    } else fields.push([name, value]);
  }
  return fields;
}
