import {
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
  modelFieldsSchema,
  routingFieldsSchema,
  traceFieldSchema,
} from '../../canonical/routing-fields.js';
import { measureSpeech } from '../../canonical/measure-speech.js';
import type { SpeechRequest } from '../../canonical/work-request.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import { assertValidBody, compileSchema } from '../../platform/http/validate-body.js';
/** In code points: the largest limit of any model in the catalogue. */
const MAX_INPUT_CHARACTERS = 10_000;

/**
 * JSON Schema of the request body, for validation and OpenAPI. Unknown fields are forwarded to
 * vendors of this dialect.
 */
export const speechSchema = {
  title: 'SpeechRequest',
  type: 'object',
  required: ['input', 'voice'],
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/speech' },
    input: {
      type: 'string',
      minLength: 1,
      maxLength: MAX_INPUT_CHARACTERS,
      description: 'Text to speak. The limit depends on the model; most allow 4,096 characters.',
    },
    voice: {
      type: ['string', 'object'],
      minLength: 1,
      maxLength: 256,
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1, maxLength: 256 } },
      description:
        '`alloy`, `echo`, `fable`, `onyx`, `nova`, `shimmer`, or another voice of the model.',
      example: 'alloy',
    },
    response_format: {
      type: ['string', 'null'],
      enum: ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm', null],
      default: 'mp3',
      description: '`pcm` is 24 kHz, 16 bits, little-endian, one channel.',
    },
    speed: { type: ['number', 'null'], minimum: 0.25, maximum: 4, default: 1 },
    instructions: {
      type: ['string', 'null'],
      maxLength: MAX_INPUT_CHARACTERS,
      description: 'How to speak, for models that support instructions.',
    },
    stream_format: {
      type: ['string', 'null'],
      enum: ['audio', 'sse', null],
      default: 'audio',
      description: '`audio`: raw bytes; `sse`: the same bytes in events, in base64.',
    },
    trace: traceFieldSchema,
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;

const validate = compileSchema(speechSchema);

/**
 * Reads the body of a speech request and counts the billed units, characters and bytes, which
 * `core/ledger/pricing.ts` prices for the hold and the charge.
 *
 * @throws InvalidRequestError naming the first invalid field
 */
export function parseSpeech(body: JsonBody): SpeechRequest {
  assertValidBody(validate, body);
  const fields = body.value;
  const { input, voice } = fields;
  const instructions = fields.instructions ?? undefined;
  const speed = fields.speed ?? undefined;
  const isOwnVoice = typeof voice !== 'string';
  return {
    kind: 'speech',
    body,
    models: readModelChain(body.value),
    routing: readRoutingPreferences(body.value),
    stream: true,
    accountBoundParam: isOwnVoice
      ? notOnSharedCapacity('voice.id', 'it names a voice in the vendor account')
      : undefined,
    ...measureSpeech(input, instructions ?? '', speed ?? 1),
    text: input,
    voice: isOwnVoice ? voice.id : voice,
    instructions,
    format: fields.response_format ?? 'mp3',
    speed,
  };
}
