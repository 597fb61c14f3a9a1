import { GATEWAY_ERROR_TYPES, type GatewayError } from './gateway-errors.js';
import { ApiResponse } from '@nestjs/swagger';
import { EnumField, IntegerField, MapField, StringField } from '../http/field.decorators.js';
import { ObjectField } from '../http/nested-field.decorators.js';

/** The `type` values on the messages paths, as that dialect defines them. */
export const MESSAGES_ERROR_TYPES = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'api_error',
  'overloaded_error',
] as const;

class ErrorDetailDto {
  @StringField({ description: 'What was wrong and what to do.' })
  message!: string;

  @EnumField([...new Set<string>([...GATEWAY_ERROR_TYPES, ...MESSAGES_ERROR_TYPES])])
  type!: string;

  @IntegerField({ description: 'The HTTP status.' })
  code!: number;

  @StringField({
    description: 'The field, header, path parameter or resource at fault.',
    example: 'model',
  })
  param!: string;

  @MapField(true, {
    optional: true,
    description: 'A code that some clients of the messages dialect act on.',
  })
  details?: Readonly<Record<string, unknown>>;
}

/** The body of every error, for the OpenAPI description. */
export class ErrorResponseDto implements ErrorBody {
  @EnumField(['error'], { optional: true, description: 'On the messages paths only.' })
  type?: 'error';

  @ObjectField(ErrorDetailDto)
  error!: ErrorDetailDto;
}

/** JSON Schema of an error in a stream that has started. */
export const errorDetailSchema = {
  title: 'StreamError',
  type: 'object',
  required: ['message', 'type', 'code', 'param'],
  properties: {
    message: { type: 'string', description: 'What was wrong and what to do.' },
    type: { type: 'string', enum: GATEWAY_ERROR_TYPES },
    code: { type: 'integer', description: 'The HTTP status of the same error before a stream.' },
    param: { type: 'string' },
  },
} as const;

/** The interface's error envelope. */
export interface ErrorBody {
  error: {
    message: string;
    type: string;
    code: number;
    param: string;
    details?: Readonly<Record<string, unknown>>;
  };
}

export function errorBody(error: GatewayError): ErrorBody {
  return {
    error: {
      message: error.message,
      type: error.type,
      code: error.status,
      param: error.param,
      ...(error.details && { details: error.details }),
    },
  };
}

/** Documents an error status of a handler with the interface's error body. */
export function ApiErrorResponse(
  status: number,
  description: string,
): ClassDecorator & MethodDecorator {
  return ApiResponse({ status, description, type: ErrorResponseDto });
}
