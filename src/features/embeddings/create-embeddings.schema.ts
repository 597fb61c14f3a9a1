import {
  modelFieldsSchema,
  routingFieldsSchema,
  traceFieldSchema,
} from '../../canonical/routing-fields.js';

/** Items of one request; what the vendors of this dialect take at most. */
export const MAX_ITEMS = 2_048;

/**
 * JSON Schema of the request body, for the check and for the OpenAPI description. What `input`
 * holds is checked item by item elsewhere, which also names the item at fault. Fields that are
 * not named here are allowed and go to vendors that speak this dialect.
 */
export const createEmbeddingsSchema = {
  type: 'object',
  required: ['input'],
  properties: {
    model: { ...modelFieldsSchema.model, example: 'sandbox/embed' },
    input: {
      type: ['string', 'array'],
      items: {},
      description:
        'A text, up to 2,048 texts, the tokens of one text, or up to 2,048 arrays of tokens. Tokens are of the model’s own vocabulary.',
    },
    encoding_format: {
      type: ['string', 'null'],
      enum: ['float', 'base64', null],
      default: 'float',
      description: '`base64`: little-endian 32-bit floats.',
    },
    dimensions: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 100_000,
      description: 'Reduced dimensions, for models that can.',
    },
    user: { type: ['string', 'null'], description: 'End-user identifier.' },
    trace: traceFieldSchema,
    models: {
      ...modelFieldsSchema.models,
      description: 'One alias at most: vectors of different models do not compare.',
    },
    ...routingFieldsSchema,
  },
} as const;
