import { modelFieldsSchema, routingFieldsSchema } from '../../canonical/routing-fields.js';
import { imageFieldsSchema } from './jobs.schema.js';

/**
 * JSON Schema of the body of an image generation, for the check and for the OpenAPI description.
 * Fields that are not named here are the model's own and go to its vendor.
 */
export const imageGenerationSchema = {
  type: 'object',
  required: ['prompt'],
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/image' },
    prompt: {
      type: 'string',
      minLength: 1,
      maxLength: 200_000,
      example: 'A lighthouse in the fog',
    },
    ...imageFieldsSchema,
    response_format: {
      type: ['string', 'null'],
      enum: ['url', 'b64_json', null],
      description:
        'Left out, it is `url` for models that have this parameter and `b64_json` for the others.',
    },
    stream: {
      type: ['boolean', 'null'],
      enum: [false, null],
      description: 'Pictures are not streamed.',
    },
    user: { type: ['string', 'null'], maxLength: 512 },
    trace: { type: ['object', 'null'] },
    models: modelFieldsSchema.models,
    ...routingFieldsSchema,
  },
} as const;
