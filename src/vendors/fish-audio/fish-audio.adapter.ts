import type { IncomingHttpHeaders } from 'node:http';
import type { SpeechRequest, TranscriptionRequest } from '../../canonical/work-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { listOf } from '../dialects/answer-json.js';
import { PCM_FORMAT } from '../dialects/audio/audio-answer.js';
import {
  AudioVendorAdapter,
  type ReadTranscript,
  type SpelledCall,
} from '../dialects/audio/audio-vendor.adapter.js';
import { readSeconds, readSegments } from '../dialects/audio/transcript.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { multipartBody } from '../dialects/multipart-body.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { type UpstreamError, unreadable } from '../upstream-error.js';

/** Names of fields here, by the vendor's. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'input'],
  ['reference_id', 'voice'],
  ['format', 'response_format'],
  ['prosody', 'speed'],
  ['audio', 'file'],
]);

/** How the vendor names the voices of its library; any other name is one of another vendor's. */
const VOICE_ID = /^[0-9a-f]{32}$/;

/** Fish Audio: speech billed by the UTF-8 byte, and transcripts with segments. It generates no text. */
export class FishAudioAdapter extends AudioVendorAdapter {
  protected readonly traits = {
    formats: ['mp3', 'wav', 'pcm', 'opus'],
    speeds: [0.5, 2],
    // The vendor takes more, though the longer the text the later its first sound.
    charactersOfCall: 4_096,
    givesWords: false,
    tellsSpeakers: false,
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

  protected speechCall(request: SpeechRequest, upstreamModel: string): SpelledCall {
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

  protected transcriptCall({ audio, format, language }: TranscriptionRequest): SpelledCall {
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

/** A file that lies about its length does so by less than this, as its bytes are held against it. */
const MAX_MEASURING_ERROR = 10;

/**
 * The vendor's figure in seconds. Its reference says seconds and some of its clients milliseconds, so
 * a figure that comes near to what was measured as milliseconds is read as those.
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
