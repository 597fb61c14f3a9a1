import {
  readModelChain,
  readRoutingPreferences,
  modelFieldsSchema,
  routingFieldsSchema,
} from '../../canonical/routing-fields.js';
import type { TranscriptionRequest, UploadedAudio } from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { assertValid, compileSchema, type BodyOf } from '../../platform/http/validate-body.js';
/**
 * JSON Schema of the form's fields, the file apart, for the check and for the OpenAPI description.
 * Fields that are not named here are allowed and go to vendors that speak this dialect.
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
      enum: ['json', 'text', 'srt', 'verbose_json', 'vtt', null],
      default: 'json',
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
      description: 'Must be false: transcripts come whole.',
    },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

const validate = compileSchema(transcriptionSchema);

/** Speech is not recorded at less than 8 kbit/s, which bounds the length of what does not tell it; */
const MIN_BYTES_PER_MS = 1;
/** … and usually at about 24 kbit/s. */
const USUAL_BYTES_PER_MS = 3;
const MS_PER_SECOND = 1_000;

/** Fields that the schema has let pass. */
type TranscriptionFields = BodyOf<typeof transcriptionSchema>;

/**
 * Checks a form's fields; what is wrong with them is told before the file is looked at.
 *
 * @throws InvalidRequestError naming the first field at fault
 */
export function assertTranscription(fields: JsonObject): asserts fields is TranscriptionFields {
  assertValid(validate, fields);
  readModelChain(fields);
  if (fields.stream === true) {
    throw new InvalidRequestError(
      'stream',
      'Transcripts are not streamed here: leave `stream` out, and the whole transcript comes.',
    );
  }
  const isVerbose = fields.response_format === 'verbose_json';
  if (fields.timestamp_granularities != null && !isVerbose) {
    throw new InvalidRequestError(
      'timestamp_granularities',
      '`timestamp_granularities` needs `response_format` to be `verbose_json`.',
    );
  }
}

/** Puts fields that have been checked and a file together. */
export function makeTranscription(
  fields: TranscriptionFields,
  audio: UploadedAudio,
): TranscriptionRequest {
  const { durationMs, sizeBytes } = audio;
  // Vendors count whole seconds, begun ones included.
  const ceilingMs =
    durationMs === undefined
      ? Math.ceil(sizeBytes / MIN_BYTES_PER_MS)
      : Math.ceil(durationMs / MS_PER_SECOND) * MS_PER_SECOND;
  return {
    kind: 'transcription',
    body: { value: fields },
    models: readModelChain(fields),
    routing: readRoutingPreferences(fields),
    stream: false,
    accountBoundParam: undefined,
    ceiling: { ...NO_USAGE, audioMs: ceilingMs },
    estimate: {
      ...NO_USAGE,
      audioMs: durationMs ?? Math.ceil(sizeBytes / USUAL_BYTES_PER_MS),
    },
    measuredAudioMs: durationMs,
    audio,
    language: fields.language ?? undefined,
    prompt: fields.prompt ?? undefined,
    format: fields.response_format ?? 'json',
    temperature: fields.temperature ?? undefined,
    timestampGranularities: fields.timestamp_granularities ?? [],
  };
}
