import type { IncomingHttpHeaders } from 'node:http';
import type { SpeechRequest, TranscriptionRequest } from '../../canonical/work-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { listOf, objectsOf } from '../dialects/answer-json.js';
import {
  AudioVendorAdapter,
  type ReadTranscript,
  type EncodedCall,
} from '../dialects/audio/audio-vendor.adapter.js';
import { segmentsOfWords, type TimedWord } from '../dialects/audio/timed-words.js';
import { readSeconds } from '../dialects/audio/transcript.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { multipartBody } from '../dialects/multipart-body.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { type UpstreamError, unreadable, unsupported } from '../upstream-error.js';

/** The vendor's names of output formats, in the best quality that all of its plans include. */
const OUTPUT_FORMATS: ReadonlyMap<string, string> = new Map([
  ['mp3', 'mp3_44100_128'],
  ['opus', 'opus_48000_64'],
  ['wav', 'wav_24000'],
  ['pcm', 'pcm_24000'],
]);

/** OpenAI's voices, each mapped to a voice that every account has. */
const VOICES: ReadonlyMap<string, string> = new Map([
  ['alloy', 'SAz9YHcvj6GT2YYXdXww'], // River
  ['ash', 'bIHbv24MWmeRgasZH58o'], // Will
  ['ballad', 'N2lVS1w4EtoT3dr4eOWO'], // Callum
  ['cedar', 'onwK4e9ZLuTAKqWW03F9'], // Daniel
  ['coral', 'FGY2WhTYpPnrIDTdsKH5'], // Laura
  ['echo', 'TX3LPaxmHKxFdv7VOQHJ'], // Liam
  ['fable', 'JBFqnCBsd6RMkjVDRZzb'], // George
  ['marin', 'XrExE9yKIg1WjnnlVkGX'], // Matilda
  ['nova', 'EXAVITQu4vr4xnSDxMaL'], // Sarah
  ['onyx', 'nPczCjzI2devNBz1zQrb'], // Brian
  ['sage', 'Xb7hH8MSUJpSbSDYk0k2'], // Alice
  ['shimmer', 'cgSgspJ2msm6clMCkdW9'], // Jessica
  ['verse', 'iP95p4xoKVk53GoZ742B'], // Chris
]);

/** The vendor's format of voice ids, which go into the path. */
const VOICE_ID = /^[A-Za-z0-9]{16,32}$/;

/** Models with a lower character limit than the gateway's. */
const SHORT_MODELS: ReadonlyMap<string, number> = new Map([['eleven_v3', 5_000]]);

/** The gateway's field names, by the vendor's. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'input'],
  ['voice_id', 'voice'],
  ['model_id', 'model'],
  ['output_format', 'response_format'],
  ['voice_settings', 'speed'],
  ['language_code', 'language'],
]);

/** ElevenLabs: speech billed by the character, and transcripts with words and speakers. */
export class ElevenLabsAdapter extends AudioVendorAdapter {
  protected readonly traits = {
    formats: [...OUTPUT_FORMATS.keys()],
    speeds: [0.7, 1.2],
    charactersPerCall: 4_096,
    maxCharacters: (model: string) => SHORT_MODELS.get(model) ?? Infinity,
    givesWords: true,
    identifiesSpeakers: true,
    transcriptionFields: ['temperature'],
    probe: { path: '/v1/models', models: 'models' },
    classifyError: classifyElevenLabsError,
  } as const;

  constructor(provider: ProviderConfig, transport: HttpTransport) {
    const { apiKey } = provider;
    const authorization: Record<string, string> =
      apiKey === undefined ? {} : { 'xi-api-key': apiKey };
    super(provider, transport, authorization);
  }

  protected speechCall(request: SpeechRequest, upstreamModel: string): EncodedCall {
    const { format, speed, text } = request;
    const voice = voiceIdOf(request.voice ?? 'alloy');
    // A WAV file starts with its length, so the vendor does not stream it.
    const path = `/v1/text-to-speech/${voice}${format === 'wav' ? '' : '/stream'}`;
    return {
      url: this.urlOf(path, { output_format: OUTPUT_FORMATS.get(format) ?? format }),
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(
        JSON.stringify({
          text,
          model_id: upstreamModel,
          ...(speed !== undefined && { voice_settings: { speed } }),
        }),
      ),
    };
  }

  protected transcriptCall(request: TranscriptionRequest, upstreamModel: string): EncodedCall {
    const { audio, format, language, temperature } = request;
    const needsTimes = format !== 'json' && format !== 'text';
    const fields: [string, string][] = [
      ['model_id', upstreamModel],
      ['timestamps_granularity', needsTimes ? 'word' : 'none'],
      // The default writes laughter and the like into the text.
      ['tag_audio_events', 'false'],
    ];
    if (format === 'diarized_json') fields.push(['diarize', 'true']);
    if (language !== undefined) fields.push(['language_code', language]);
    if (temperature !== undefined) fields.push(['temperature', String(temperature)]);
    const { headers, stream } = multipartBody(fields, [['file', audio]]);
    return { url: this.urlOf('/v1/speech-to-text'), headers, bodyStream: stream };
  }

  protected readTranscript(answer: JsonObject): ReadTranscript {
    const { text, language_code: language } = answer;
    if (typeof text !== 'string') throw unreadable('a transcript without its text');
    const words = readWords(answer.words);
    return {
      text,
      language: typeof language === 'string' ? language : '',
      // Zero is not a valid duration: transcription is never free.
      durationSeconds: readSeconds(answer.audio_duration_secs) || undefined,
      segments: segmentsOfWords(words),
      words,
    };
  }
}

/** @throws UpstreamError `unsupported` for a name that cannot be a voice of the vendor */
function voiceIdOf(voice: string): string {
  const id = VOICES.get(voice) ?? voice;
  if (VOICE_ID.test(id)) return id;
  throw unsupported(
    'voice',
    `This provider does not have this voice; use a voice id, or one of ${[...VOICES.keys()].join(', ')}.`,
  );
}

/** Reads words. The vendor lists blanks as separate words; each is attached to the word after it. */
function readWords(list: unknown): TimedWord[] {
  const words: TimedWord[] = [];
  let blank = '';
  for (const { text, type, start, end, speaker_id: speaker } of objectsOf(list)) {
    if (typeof text !== 'string') continue;
    if (type === 'spacing') {
      blank += text;
      continue;
    }
    const from = readSeconds(start);
    const to = readSeconds(end);
    if (from === undefined || to === undefined) continue;
    words.push({
      text: blank + text,
      start: from,
      end: to,
      ...(typeof speaker === 'string' && { speaker }),
    });
    blank = '';
  }
  return words;
}

/**
 * Classifies a failed answer. Its format is `{detail: {status, message}}`, in newer versions with a `code`
 * and a `param`, and for rejected fields `{detail: [{loc, msg}]}`.
 */
function classifyElevenLabsError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const detail = isJsonObject(body) ? body.detail : undefined;
  if (isJsonObject(detail)) {
    const { message, param } = detail;
    const code = detail.code ?? detail.status;
    const error = { message, param: FIELDS.get(param) ?? param };
    switch (code) {
      case 'voice_not_found':
        return classifyChatError(status, headers, { ...error, param: 'voice' }, 'unsupported');
      case 'max_character_limit_exceeded':
      case 'text_too_long':
        return classifyChatError(status, headers, { ...error, param: 'input' }, 'context_length');
      case 'invalid_api_key':
      case 'quota_exceeded':
      case 'model_not_found':
        return classifyChatError(status, headers, error, 'operator');
      default:
        return classifyChatError(status, headers, error);
    }
  }
  const [first] = objectsOf(detail);
  if (!first) return classifyChatError(status, headers, body);
  const field = listOf(first.loc).find((step) => typeof step === 'string' && !LOCATIONS.has(step));
  return classifyChatError(status, headers, {
    message: first.msg,
    param: FIELDS.get(field) ?? field,
  });
}

/** Locations of a rejected field that are not names of fields. */
const LOCATIONS: ReadonlySet<unknown> = new Set(['body', 'query', 'path']);
