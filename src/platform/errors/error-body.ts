import type { GatewayError } from './gateway-errors.js';

/** The interface's error envelope. */
export interface ErrorBody {
  error: { message: string; type: string; code: number; param: string };
}

export function errorBody(error: GatewayError): ErrorBody {
  return {
    error: {
      message: error.message,
      type: error.type,
      code: error.status,
      param: error.param,
    },
  };
}
