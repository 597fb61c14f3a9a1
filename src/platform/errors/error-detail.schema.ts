import { GATEWAY_ERROR_TYPES } from './gateway-errors.js';

/** JSON Schema of an error within a stream that had begun. */
export const errorDetailSchema = {
  type: 'object',
  required: ['message', 'type', 'code', 'param'],
  properties: {
    message: { type: 'string', description: 'What was wrong and what to do.' },
    type: { type: 'string', enum: GATEWAY_ERROR_TYPES },
    code: { type: 'integer', description: 'The HTTP status it would have been.' },
    param: { type: 'string' },
  },
} as const;
