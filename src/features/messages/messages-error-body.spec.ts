import { describe, expect, it } from '@jest/globals';
import {
  AuthenticationError,
  ConflictError,
  GuardrailViolationError,
  InsufficientCreditsError,
  InternalError,
  InvalidRequestError,
  NotFoundError,
  OverloadedError,
  PermissionError,
  ProviderError,
  ProviderOverloadedError,
  ProviderUnavailableError,
  RateLimitError,
  ServiceStopsError,
  TimeoutError,
  type GatewayError,
} from '../../platform/errors/gateway-errors.js';
import { isMessagesPath, messagesErrorBody, messagesStatus } from './messages-error-body.js';

describe(isMessagesPath.name, () => {
  it.each([
    '/v1/messages',
    '/v1/messages/',
    '/V1/Messages',
    '/v1/messages/count_tokens',
    '/v1/anthropic/messages',
    '/v1/anthropic/v1/messages',
    '/v1/anthropic/v1/models',
    '/v1/vendora/messages',
    '/api/v1/messages',
    '/api/v1/anthropic/messages/count_tokens',
  ])('returns true for %s', (path) => {
    expect(isMessagesPath(path)).toBe(true);
  });

  it.each([
    '/',
    '/v1/chat/completions',
    '/v1/messagesx',
    '/v1/models/anthropic/claude',
    '/v1/customer/messages',
    '/x/v1/messages',
    '/docs/v1/messages',
  ])('returns false for %s', (path) => {
    expect(isMessagesPath(path)).toBe(false);
  });
});

describe(messagesErrorBody.name, () => {
  it("wraps the gateway's error in the dialect's envelope", () => {
    expect(messagesErrorBody(new InvalidRequestError('max_tokens', 'Missing.'))).toEqual({
      type: 'error',
      error: {
        message: 'Missing.',
        type: 'invalid_request_error',
        code: 400,
        param: 'max_tokens',
      },
    });
  });

  it.each<[GatewayError, number, string]>([
    [new InvalidRequestError('body', 'x', 413), 413, 'request_too_large'],
    [new AuthenticationError('x'), 401, 'authentication_error'],
    [new InsufficientCreditsError('x'), 402, 'billing_error'],
    [new PermissionError('x'), 403, 'permission_error'],
    [new GuardrailViolationError('messages', 'x'), 403, 'permission_error'],
    [new NotFoundError('model', 'x'), 404, 'not_found_error'],
    [new ConflictError('model', 'x'), 409, 'invalid_request_error'],
    [new RateLimitError('model', 'x', 1), 429, 'rate_limit_error'],
    [new InternalError(), 500, 'api_error'],
    [new ProviderError('x'), 502, 'api_error'],
    [new ProviderOverloadedError('x'), 529, 'overloaded_error'],
    [new ProviderUnavailableError('x'), 503, 'api_error'],
    [new OverloadedError('body', 'x', 1, 'memory'), 503, 'overloaded_error'],
    [new ServiceStopsError(), 503, 'overloaded_error'],
    [new TimeoutError('x'), 504, 'timeout_error'],
  ])("maps %p to the dialect's type", (error, status, type) => {
    expect(messagesStatus(error)).toBe(status);
    expect(messagesErrorBody(error).error).toMatchObject({ type, code: status });
  });
});
