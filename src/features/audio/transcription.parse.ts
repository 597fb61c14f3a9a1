import {
  readModelChain,
  readRoutingPreferences,
  modelFieldsSchema,
  routingFieldsSchema,
} from '../../canonical/routing-fields.js';
import type { TranscriptionRequest, UploadedAudio } from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { FormShape } from '../../platform/http/form-fields.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { assertValid, compileSchema, type BodyOf } from '../../platform/http/validate-body.js';
/**
 * JSON Schema of the form's fields without the file, for validation and OpenAPI. Unknown fields
 * are forwarded to vendors of this dialect.
 */
export const transcriptionSchema = {
  title: 'TranscriptionRequest',
  type: 'object',
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/transcribe' },
    language: {
      type: ['string', 'null'],
      maxLength: 32,
      description: 'ISO 639-1 code of the language spoken, e.g. `en`.',
    },
    prompt: {
      type: ['string', 'null'],
      maxLength: 10_000,
      description: 'Words and style to expect.',
    },
    response_format: {
      type: ['string', 'null'],
      enum: ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json', null],
      default: 'json',
      description: '`diarized_json` labels speakers, for models that support it.',
    },
    temperature: { type: ['number', 'null'], minimum: 0, maximum: 1 },
    timestamp_granularities: {
      type: ['array', 'null'],
      maxItems: 2,
      items: { type: 'string', enum: ['word', 'segment'] },
      description: 'With `verbose_json` only; sent as `timestamp_granularities[]`.',
    },
    stream: {
      type: ['boolean', 'null'],
      description:
        'Streams the events `transcript.text.delta` and `transcript.text.done`; with `json`, `text` and `diarized_json` only.',
    },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

const validate = compileSchema(transcriptionSchema);

/** Form fields that are not strings. */
export const TRANSCRIPTION_FORM: FormShape = {
  lists: new Set(['models', 'timestamp_granularities', 'include']),
  numbers: new Set(['temperature', 'max_cost', 'hedge_ms']),
  flags: new Set(['stream']),
  objects: new Set(['provider', 'trace']),
};

/** Speech has at least 8 kbit/s, which bounds the length of files that don't state it. */
const MIN_BYTES_PER_MS = 1;
/** Typical speech has about 24 kbit/s; lossless about 96. */
const USUAL_BYTES_PER_MS = 3;
const USUAL_LOSSLESS_BYTES_PER_MS = 12;
const LOSSLESS = 'audio/flac';
const MS_PER_SECOND = 1_000;

/** Subtitles and timestamps are complete only at the end. */
const STREAMED_FORMATS: ReadonlySet<string> = new Set(['json', 'text', 'diarized_json']);

/** Validated fields. */
type TranscriptionFields = BodyOf<typeof transcriptionSchema>;

/**
 * Validates the fields before the file is read.
 * @throws InvalidRequestError naming the first invalid field
 */
export function assertTranscription(fields: JsonObject): asserts fields is TranscriptionFields {
  assertValid(validate, fields);
  readModelChain(fields);
  const { response_format: format } = fields;
  if (fields.stream === true && format != null && !STREAMED_FORMATS.has(format)) {
    throw new InvalidRequestError(
      'stream',
      `\`response_format: ${format}\` cannot be streamed. Omit \`stream\`, or use \`json\`.`,
    );
  }
  const isVerbose = fields.response_format === 'verbose_json';
  if (fields.timestamp_granularities != null && !isVerbose) {
    throw new InvalidRequestError(
      'timestamp_granularities',
      '`timestamp_granularities` requires `response_format` to be `verbose_json`.',
    );
  }
}

/**
 * Validates a translation, which has fewer fields.
 * @throws InvalidRequestError naming the first invalid field
 */
export function assertTranslation(fields: JsonObject): asserts fields is TranscriptionFields {
  assertTranscription(fields);
  const unsupported = TRANSCRIPTION_ONLY.find(
    (name) => fields[name] != null && fields[name] !== false,
  );
  if (unsupported === undefined && fields.response_format !== 'diarized_json') return;
  throw new InvalidRequestError(
    unsupported ?? 'response_format',
    unsupported === undefined
      ? 'For translations, `response_format` must be `json`, `text`, `srt`, `verbose_json` or `vtt`.'
      : `\`${unsupported}\` applies to transcriptions only; omit it for translations.`,
  );
}

const TRANSCRIPTION_ONLY = ['language', 'timestamp_granularities', 'stream'] as const;

/** Returns the maximum duration in milliseconds for the file size. */
function longestOf({ sizeBytes }: UploadedAudio): number {
  return Math.ceil(sizeBytes / MIN_BYTES_PER_MS);
}

/**
 * Returns the duration to reserve, in whole seconds rounded up, as vendors bill. A stated length
 * is checked against the size, since vendors bill the actual content.
 */
function ceilingOf(audio: UploadedAudio): number {
  const { durationMs, sizeBytes, contentType, isLengthClaimed } = audio;
  if (durationMs === undefined) return longestOf(audio);
  const usual = contentType === LOSSLESS ? USUAL_LOSSLESS_BYTES_PER_MS : USUAL_BYTES_PER_MS;
  const leastMs = isLengthClaimed ? sizeBytes / usual : 0;
  return Math.ceil(Math.max(durationMs, leastMs) / MS_PER_SECOND) * MS_PER_SECOND;
}

/** Combines validated fields and a file. */
export function makeTranscription(
  fields: TranscriptionFields,
  audio: UploadedAudio,
  task: TranscriptionRequest['task'],
): TranscriptionRequest {
  const { durationMs, sizeBytes } = audio;
  return {
    kind: 'transcription',
    task,
    body: { value: fields },
    models: readModelChain(fields),
    routing: readRoutingPreferences(fields),
    stream: fields.stream === true,
    accountBoundParam: undefined,
    ceiling: { ...NO_USAGE, audioMs: ceilingOf(audio) },
    estimate: {
      ...NO_USAGE,
      audioMs: durationMs ?? Math.ceil(sizeBytes / USUAL_BYTES_PER_MS),
    },
    measuredAudioMs: durationMs,
    longestAudioMs: audio.isLengthClaimed ? longestOf(audio) : undefined,
    audio,
    language: fields.language ?? undefined,
    prompt: fields.prompt ?? undefined,
    format: fields.response_format ?? 'json',
    temperature: fields.temperature ?? undefined,
    timestampGranularities: fields.timestamp_granularities ?? [],
  };
}
