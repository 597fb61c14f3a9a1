import type {
  Transcript,
  TranscriptionRequest,
  AudioPiece,
  SpeechRequest,
} from '../../../canonical/work-request.js';
import type { WorkEvent } from '../../../canonical/canonical-event.js';
import type { MediaResult } from '../../media-work.js';
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

/** Fields of this or another gateway, or set below. */
const NOT_FORWARDED = new Set([
  'model',
  ...GATEWAY_FIELDS,
  'stream',
  'stream_format',
  'response_format',
  'instructions',
]);

/** Default limit of one call. */
const MAX_CHARACTERS_PER_CALL = 4_096;

/** Traits of a speech model. */
export interface SpeechTraits {
  takesInstructions: boolean;
  /** Billed by the duration of its speech, which is then measured while streaming. */
  isBilledByLength: boolean;
  /** Maximum code points of text; undefined: left to the vendor. */
  maxCharacters: number | undefined;
}

/** A server with the common audio API. */
interface AudioServer {
  speechUrl: URL;
  transcriptionsUrl: URL;
  translationsUrl: URL;
  authorization: Record<string, string>;
  apiKey: string | undefined;
  speechTraits(upstreamModel: string): SpeechTraits;
  /** Returns whether the model has transcripts with timestamps, which also give the audio's duration. */
  givesSegments(upstreamModel: string): boolean;
}

/** Speech and transcription on a server with the same API as the gateway's own. */
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

  /** Generates speech of any length as one file. @throws UpstreamError */
  submitSpeech(call: WorkCall<SpeechRequest>): Promise<MediaResult> {
    const { maxCharacters = MAX_CHARACTERS_PER_CALL } = this.server.speechTraits(
      call.upstreamModel,
    );
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
    const vendorFormat: VendorFormat = this.vendorFormatFor(request.format, upstreamModel);
    const fields = encodeTranscription(request, upstreamModel, vendorFormat);
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
    // Some models ignore the request to stream.
    if (request.stream && !isUnstreamed(response)) {
      yield* readTranscriptEvents(response);
      return;
    }
    const bytes = await response.readAll(MAX_TRANSCRIPT_BYTES);
    const { transcript, usage } = readTranscript(bytes, vendorFormat, request);
    yield { type: 'output', output: transcript };
    if (usage) yield { type: 'usage', usage };
  }

  /**
   * Chooses the format to request. Plain text and subtitles lack the audio's duration, and the upload's own
   * metadata must not be billed by, so the detailed format is requested and converted here.
   */
  private vendorFormatFor(format: string, upstreamModel: string): VendorFormat {
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

/** The format requested from a vendor, which may differ from the caller's. */
type VendorFormat = string;

/** Encodes speech. Unknown fields are passed on, because the dialect is the caller's. */
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

/** Returns the form's fields in order, without the file. */
function encodeTranscription(
  request: TranscriptionRequest,
  upstreamModel: string,
  format: VendorFormat,
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
