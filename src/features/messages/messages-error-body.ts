import {
  errorBody,
  type ErrorBody,
  type MESSAGES_ERROR_TYPES,
} from '../../platform/errors/error-response.js';
import {
  DatabaseUnavailableError,
  OverloadedError,
  ProviderOverloadedError,
  ServiceStopsError,
  type GatewayError,
  type GatewayErrorType,
} from '../../platform/errors/gateway-errors.js';
import { MESSAGES_BASES } from './messages.vendor.js';

/** The error envelope with the fields that clients of this dialect read. */
export interface MessagesErrorBody extends ErrorBody {
  type: 'error';
}

type MessagesErrorType = (typeof MESSAGES_ERROR_TYPES)[number];

/** The dialect's error types. Its clients know no others. */
const TYPES: Readonly<Record<GatewayErrorType, MessagesErrorType>> = {
  invalid_request_error: 'invalid_request_error',
  invalid_provider_key: 'invalid_request_error',
  authentication_error: 'authentication_error',
  insufficient_credits: 'billing_error',
  budget_exceeded: 'billing_error',
  permission_error: 'permission_error',
  guardrail_violation: 'permission_error',
  not_found_error: 'not_found_error',
  conflict_error: 'invalid_request_error',
  rate_limit_error: 'rate_limit_error',
  internal_error: 'api_error',
  provider_error: 'api_error',
  provider_unavailable: 'api_error',
  timeout_error: 'timeout_error',
};

/** The dialect's status for an overloaded vendor. Clients back off. */
const VENDOR_OVERLOADED = 529;

/** Returns the HTTP status of a failure in this dialect. */
export function messagesStatus(error: GatewayError): number {
  return error instanceof ProviderOverloadedError ? VENDOR_OVERLOADED : error.status;
}

export function messagesErrorBody(error: GatewayError): MessagesErrorBody {
  const body = errorBody(error).error;
  return { type: 'error', error: { ...body, type: typeOf(error), code: messagesStatus(error) } };
}

function typeOf(error: GatewayError): MessagesErrorType {
  if (error.status === 413) return 'request_too_large';
  const isOverload =
    error instanceof ProviderOverloadedError ||
    error instanceof OverloadedError ||
    error instanceof DatabaseUnavailableError ||
    error instanceof ServiceStopsError;
  return isOverload ? 'overloaded_error' : TYPES[error.type];
}

const PATHS = new RegExp(`^/(?:api/)?v1/(?:${MESSAGES_BASES.join('|')})(?:/|$)`, 'i');

/** Returns whether errors on this path use the dialect, including unknown paths. */
export function isMessagesPath(path: string): boolean {
  return PATHS.test(path);
}
