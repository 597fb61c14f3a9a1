import type { IncomingHttpHeaders } from 'node:http';
import type { SpeechRequest, TranscriptionRequest } from '../../canonical/work-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { listOf } from '../dialects/answer-json.js';
import { PCM_FORMAT } from '../dialects/audio/audio-answer.js';
import {
  AudioVendorAdapter,
  type ReadTranscript,
  type EncodedCall,
} from '../dialects/audio/audio-vendor.adapter.js';
import { readSeconds, readSegments } from '../dialects/audio/transcript.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { multipartBody } from '../dialects/multipart-body.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { type UpstreamError, unreadable } from '../upstream-error.js';

/** The gateway's field names, by the vendor's. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'input'],
  ['reference_id', 'voice'],
  ['format', 'response_format'],
  ['prosody', 'speed'],
  ['audio', 'file'],
]);

/** The vendor's format of voice ids; any other name is another vendor's voice. */
const VOICE_ID = /^[0-9a-f]{32}$/;

/** Fish Audio: speech billed by the UTF-8 byte, and transcripts with segments. It does not generate text. */
export class FishAudioAdapter extends AudioVendorAdapter {
  protected readonly traits = {
    formats: ['mp3', 'wav', 'pcm', 'opus'],
    speeds: [0.5, 2],
    // The vendor accepts more, but the first audio of a longer text comes later.
    charactersPerCall: 4_096,
    givesWords: false,
    identifiesSpeakers: false,
    probe: { path: '/wallet/self/api-credit' },
    classifyError: classifyFishAudioError,
  } as const;

  constructor(provider: ProviderConfig, transport: HttpTransport) {
    const { apiKey } = provider;
    const authorization: Record<string, string> =
      apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    super(provider, transport, authorization);
  }

  protected override replacesVoice(voice: string): boolean {
    return !VOICE_ID.test(voice);
  }

  protected speechCall(request: SpeechRequest, upstreamModel: string): EncodedCall {
    const { format, speed, voice, text } = request;
    return {
      url: this.urlOf('/v1/tts'),
      headers: { 'content-type': 'application/json', model: upstreamModel },
      body: Buffer.from(
        JSON.stringify({
          text,
          format,
          ...(voice !== undefined && VOICE_ID.test(voice) && { reference_id: voice }),
          ...(format === 'pcm' && { sample_rate: PCM_FORMAT.sampleRate }),
          ...(speed !== undefined && { prosody: { speed } }),
        }),
      ),
    };
  }

  protected transcriptCall({ audio, format, language }: TranscriptionRequest): EncodedCall {
    const needsTimes = format !== 'json' && format !== 'text';
    const fields: [string, string][] = [['ignore_timestamps', needsTimes ? 'false' : 'true']];
    if (language !== undefined) fields.push(['language', language]);
    const { headers, stream } = multipartBody(fields, [['audio', audio]]);
    return { url: this.urlOf('/v1/asr'), headers, bodyStream: stream };
  }

  protected readTranscript(
    { text, duration, segments }: JsonObject,
    { audio, language }: TranscriptionRequest,
  ): ReadTranscript {
    if (typeof text !== 'string') throw unreadable('a transcript without its text');
    return {
      text,
      language: language ?? '',
      durationSeconds: lengthOf(readSeconds(duration), audio.durationMs),
      segments: readSegments(segments),
    };
  }
}

/** Bound on a file's false duration claims, whose bytes are checked against them. */
const MAX_MEASURING_ERROR = 10;

/**
 * Returns the vendor's duration in seconds. Its reference says seconds and some of its clients milliseconds,
 * so a figure close to the measured milliseconds is read as milliseconds.
 */
function lengthOf(
  reported: number | undefined,
  measuredMs: number | undefined,
): number | undefined {
  if (reported === undefined || measuredMs === undefined) return reported;
  const isInMs =
    reported * MAX_MEASURING_ERROR > measuredMs && reported < measuredMs * MAX_MEASURING_ERROR;
  return isInMs ? reported / 1000 : reported;
}

/**
 * Classifies a failed answer. Its format is `{status, message}`, and for rejected fields a list with the
 * location and problem of each.
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
