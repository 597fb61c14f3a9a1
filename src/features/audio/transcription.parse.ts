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
      enum: ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json', null],
      default: 'json',
      description: '`diarized_json` tells speakers apart, for models that can.',
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
        'Answers with events `transcript.text.delta` and `transcript.text.done`; with `json`, `text` and `diarized_json` only.',
    },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

const validate = compileSchema(transcriptionSchema);

/** Which of them are no texts. */
export const TRANSCRIPTION_FORM: FormShape = {
  lists: new Set(['models', 'timestamp_granularities', 'include']),
  numbers: new Set(['temperature', 'max_cost', 'hedge_ms']),
  flags: new Set(['stream']),
  objects: new Set(['provider', 'trace']),
};

/** Speech is not recorded at less than 8 kbit/s, which bounds the length of what does not tell it; */
const MIN_BYTES_PER_MS = 1;
/** … and usually at about 24 kbit/s; without loss at about 96. */
const USUAL_BYTES_PER_MS = 3;
const USUAL_LOSSLESS_BYTES_PER_MS = 12;
const LOSSLESS = 'audio/flac';
const MS_PER_SECOND = 1_000;

/** Subtitles and times are only known when all has been heard. */
const STREAMED_FORMATS: ReadonlySet<string> = new Set(['json', 'text', 'diarized_json']);

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
  const { response_format: format } = fields;
  if (fields.stream === true && format != null && !STREAMED_FORMATS.has(format)) {
    throw new InvalidRequestError(
      'stream',
      `A transcript in \`${format}\` comes whole: leave \`stream\` out, or ask for \`json\`.`,
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

/** The same for a translation, whose fields are fewer. @throws InvalidRequestError naming the first field at fault */
export function assertTranslation(fields: JsonObject): asserts fields is TranscriptionFields {
  assertTranscription(fields);
  const strange = NOT_OF_TRANSLATIONS.find(
    (name) => fields[name] != null && fields[name] !== false,
  );
  if (strange === undefined && fields.response_format !== 'diarized_json') return;
  throw new InvalidRequestError(
    strange ?? 'response_format',
    strange === undefined
      ? 'A translation comes as `json`, `text`, `srt`, `verbose_json` or `vtt`.'
      : `\`${strange}\` is for transcriptions; leave it out.`,
  );
}

const NOT_OF_TRANSLATIONS = ['language', 'timestamp_granularities', 'stream'] as const;

/** The most that so many bytes hold, whatever they say. */
function longestOf({ sizeBytes }: UploadedAudio): number {
  return Math.ceil(sizeBytes / MIN_BYTES_PER_MS);
}

/**
 * What is set aside: the measured length in whole seconds, as vendors count begun ones too. A length that
 * the file claims is held against its bytes, since the vendor hears what it holds.
 */
function ceilingOf(audio: UploadedAudio): number {
  const { durationMs, sizeBytes, contentType, isLengthClaimed } = audio;
  if (durationMs === undefined) return longestOf(audio);
  const usual = contentType === LOSSLESS ? USUAL_LOSSLESS_BYTES_PER_MS : USUAL_BYTES_PER_MS;
  const leastMs = isLengthClaimed ? sizeBytes / usual : 0;
  return Math.ceil(Math.max(durationMs, leastMs) / MS_PER_SECOND) * MS_PER_SECOND;
}

/** Puts fields that have been checked and a file together. */
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
