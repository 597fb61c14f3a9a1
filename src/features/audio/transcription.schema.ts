import { modelFieldsSchema, routingFieldsSchema } from '../../canonical/routing-fields.js';

/**
 * JSON Schema of the form's fields, the file apart, for the check and for the OpenAPI description.
 * Fields that are not named here are allowed and go to vendors that speak this dialect.
 */
export const transcriptionSchema = {
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
