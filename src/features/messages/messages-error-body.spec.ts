import { describe, expect, it } from '@jest/globals';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isMessagesPath, messagesErrorBody } from './messages-error-body.js';

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
  ])('says yes to %s', (path) => {
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
  ])('says no to %s', (path) => {
    expect(isMessagesPath(path)).toBe(false);
  });
});

describe(messagesErrorBody.name, () => {
  it('is the interface’s error with a type above it', () => {
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
});
