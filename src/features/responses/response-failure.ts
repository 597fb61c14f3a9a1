import { GatewayError, InternalError } from '../../platform/errors/gateway-errors.js';

/** A failure as the dialect's `error` object; its codes are few. */
export function toResponseError(failure: unknown): { code: string; message: string } {
  const error = failure instanceof GatewayError ? failure : new InternalError();
  const code = error.type === 'rate_limit_error' ? 'rate_limit_exceeded' : 'server_error';
  return { code, message: error.message };
}
