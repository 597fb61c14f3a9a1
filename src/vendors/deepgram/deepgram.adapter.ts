import type { IncomingHttpHeaders } from 'node:http';
import type { SpeechRequest, TranscriptionRequest } from '../../canonical/work-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { objectOf, objectsOf } from '../dialects/answer-json.js';
import {
  AudioVendorAdapter,
  type ReadTranscript,
  type EncodedCall,
} from '../dialects/audio/audio-vendor.adapter.js';
import { segmentsOfWords, type TimedWord } from '../dialects/audio/timed-words.js';
import { readSeconds } from '../dialects/audio/transcript.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { fileBody } from '../dialects/multipart-body.js';
import type { HttpTransport } from '../transport/http-transport.js';
import { type UpstreamError, unreadable, unsupported } from '../upstream-error.js';

/** The vendor's parameters for the output formats. */
const OUTPUT_FORMATS: ReadonlyMap<string, Record<string, string>> = new Map<
  string,
  Record<string, string>
>([
  ['mp3', { encoding: 'mp3' }],
  ['opus', { encoding: 'opus', container: 'ogg' }],
  ['aac', { encoding: 'aac' }],
  ['flac', { encoding: 'flac', sample_rate: '48000' }],
  ['wav', { encoding: 'linear16', container: 'wav', sample_rate: '24000' }],
  ['pcm', { encoding: 'linear16', container: 'none', sample_rate: '24000' }],
]);

/** OpenAI's voices, each mapped to an English one that all of the vendor's generations have. */
const VOICES: ReadonlyMap<string, string> = new Map([
  ['alloy', 'asteria'],
  ['ash', 'orpheus'],
  ['ballad', 'arcas'],
  ['cedar', 'orion'],
  ['coral', 'hera'],
  ['echo', 'orion'],
  ['fable', 'athena'],
  ['marin', 'asteria'],
  ['nova', 'luna'],
  ['onyx', 'zeus'],
  ['sage', 'athena'],
  ['shimmer', 'hera'],
  ['verse', 'arcas'],
]);

const SPOKEN_LANGUAGE = 'en';
/** `thalia`, or with its language `celeste-es`. */
const VOICE_NAME = /^[a-z]{2,20}(?:-[a-z]{2})?$/;
/** A tag such as `en` or `pt-BR`; the vendor's other values, such as `multi`, change the price. */
const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
const MAX_CHARACTERS = 2_000;

/**
 * Deepgram: speech billed by the character, and transcripts by the duration of the audio. For transcription
 * models, a language may follow a colon: `nova-3:multi` handles several in one recording, at its own price.
 */
export class DeepgramAdapter extends AudioVendorAdapter {
  protected readonly traits = {
    formats: [...OUTPUT_FORMATS.keys()],
    speeds: [0.7, 1.5],
    charactersPerCall: MAX_CHARACTERS,
    maxCharacters: () => MAX_CHARACTERS,
    givesWords: true,
    // The vendor does, at an extra price that no catalogue row has.
    identifiesSpeakers: false,
    probe: { path: '/v1/auth/token' },
    classifyError: classifyDeepgramError,
  } as const;

  constructor(provider: ProviderConfig, transport: HttpTransport) {
    const { apiKey } = provider;
    const authorization: Record<string, string> =
      apiKey === undefined ? {} : { authorization: `Token ${apiKey}` };
    super(provider, transport, authorization);
  }

  protected speechCall(request: SpeechRequest, upstreamModel: string): EncodedCall {
    const { format, speed, text } = request;
    const query = {
      model: voiceModel(upstreamModel, request.voice ?? 'alloy'),
      ...OUTPUT_FORMATS.get(format),
      ...(speed !== undefined && speed !== 1 && { speed: String(speed) }),
    };
    return {
      url: this.urlOf('/v1/speak', query),
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ text })),
    };
  }

  protected transcriptCall(request: TranscriptionRequest, upstreamModel: string): EncodedCall {
    const { headers, stream } = fileBody(request.audio);
    const [model = '', fixed] = upstreamModel.split(':');
    const { language } = request;
    if (language !== undefined && !LANGUAGE.test(language)) {
      throw unsupported(
        'language',
        '`language` must be a code such as `en` or `pt-BR` for this model.',
      );
    }
    const expected = fixed ?? language;
    const spoken: Record<string, string> =
      expected === undefined ? { detect_language: 'true' } : { language: expected };
    const query = { model, smart_format: 'true', ...spoken };
    return { url: this.urlOf('/v1/listen', query), headers, bodyStream: stream };
  }

  protected readTranscript(answer: JsonObject, { language }: TranscriptionRequest): ReadTranscript {
    const [channel = {}] = objectsOf(objectOf(answer.results).channels);
    const [best = {}] = objectsOf(channel.alternatives);
    if (typeof best.transcript !== 'string') throw unreadable('a transcript without its text');
    const words = readWords(best.words);
    const { detected_language: detected } = channel;
    return {
      text: best.transcript,
      language: typeof detected === 'string' ? detected : (language ?? ''),
      // Zero is not a valid duration: transcription is never free.
      durationSeconds: readSeconds(objectOf(answer.metadata).duration) || undefined,
      segments: segmentsOfWords(words),
      words,
    };
  }
}

/**
 * Returns the model for a voice. The vendor's voices are models, named after the generation that a
 * catalogue row prices: `aura-2-thalia-en`.
 *
 * @throws UpstreamError `unsupported` for a name that cannot be a voice of this generation
 */
function voiceModel(model: string, voice: string): string {
  const name = voice.startsWith(`${model}-`) ? voice.slice(model.length + 1) : voice;
  const known = VOICES.get(name) ?? name;
  if (VOICE_NAME.test(known)) {
    return `${model}-${known}${known.includes('-') ? '' : `-${SPOKEN_LANGUAGE}`}`;
  }
  throw unsupported(
    'voice',
    `This model does not have this voice; use a name such as \`asteria\` or \`asteria-en\`.`,
  );
}

function readWords(list: unknown): TimedWord[] {
  return objectsOf(list).flatMap(({ word, punctuated_word: punctuated, start, end }, index) => {
    const text = punctuated ?? word;
    const from = readSeconds(start);
    const to = readSeconds(end);
    if (typeof text !== 'string' || from === undefined || to === undefined) return [];
    return [{ text: index === 0 ? text : ` ${text}`, start: from, end: to }];
  });
}

/**
 * Classifies a failed answer. Its format is `{err_code, err_msg}`, or in newer versions
 * `{category, message, details}`.
 */
function classifyDeepgramError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const { err_msg: message, ...rest } = isJsonObject(body) ? body : {};
  const error = typeof message === 'string' ? { message } : rest;
  // Supported languages depend on the model, so another may support this one.
  const isUnknownLanguage = status === 400 && /\blanguage\b/i.test(String(message));
  if (isUnknownLanguage) {
    return classifyChatError(status, headers, { ...error, param: 'language' }, 'unsupported');
  }
  return classifyChatError(status, headers, error);
}
