import { modelFieldsSchema, routingFieldsSchema } from '../../canonical/routing-fields.js';

/** Code points; models of images and videos take far less, and long speech is made in pieces. */
const MAX_TEXT_CHARACTERS = 200_000;
const MAX_IMAGES = 10;
export const MAX_VIDEO_SECONDS = 60;

const text = { type: ['string', 'null'], minLength: 1, maxLength: MAX_TEXT_CHARACTERS } as const;

/** What images and jobs share. */
export const imageFieldsSchema = {
  n: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: MAX_IMAGES,
    default: 1,
    description: 'Pictures to make.',
  },
  size: { type: ['string', 'null'], maxLength: 64, example: '1024x1024' },
  quality: { type: ['string', 'null'], maxLength: 64 },
} as const;

/**
 * JSON Schema of the body of a new job, for the check and for the OpenAPI description. Fields that
 * are not named here are the model's own and go to its vendor.
 */
export const jobSchema = {
  type: 'object',
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/image' },
    prompt: {
      ...text,
      description: 'What to make; `input` means the same. One of the two is required.',
      example: 'A lighthouse in the fog',
    },
    input: { ...text, description: 'The text to speak, or the prompt.' },
    ...imageFieldsSchema,
    seconds: {
      type: ['integer', 'string', 'null'],
      minimum: 1,
      maximum: MAX_VIDEO_SECONDS,
      pattern: '^[1-9]\\d?$',
      description: 'Length of a video; left out, the model decides.',
    },
    voice: {
      type: ['string', 'object', 'null'],
      minLength: 1,
      maxLength: 256,
      required: ['id'],
      properties: { id: { type: 'string', minLength: 1, maxLength: 256 } },
      description: 'For speech; left out, `alloy`.',
    },
    response_format: {
      type: ['string', 'null'],
      maxLength: 64,
      description: 'For speech: `mp3` (default), `opus`, `aac`, `flac`, `wav` or `pcm`.',
    },
    speed: { type: ['number', 'null'], minimum: 0.25, maximum: 4 },
    instructions: { type: ['string', 'null'], maxLength: 10_000 },
    metadata: {
      type: ['object', 'null'],
      maxProperties: 16,
      propertyNames: { maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 512 },
      description: 'Up to 16 texts of your own, given back with the job.',
    },
    webhook_url: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 2_048,
      description: 'Where to send the job once, when it has ended.',
      example: 'https://example.com/hooks/jobs',
    },
    stream: {
      type: ['boolean', 'null'],
      enum: [false, null],
      description: 'Jobs are not streamed.',
    },
    trace: { type: ['object', 'null'] },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;
