import { describe, expect, it } from '@jest/globals';
import { COMMON_VERDICTS, type StatusVerdict } from '../../../../test/support/status-verdicts.js';
import { classifyInlineMessagesError, classifyMessagesError } from './classify-messages-error.js';

const classify = (status: number, error: object = {}, headers = {}) =>
  classifyMessagesError(status, headers, { type: 'error', error: { message: 'x', ...error } });

describe(classifyMessagesError.name, () => {
  it.each<StatusVerdict>(COMMON_VERDICTS)(
    'classifies status %d as %s',
    (status, failure, allowsFallback, isRetryable) => {
      expect(classify(status)).toMatchObject({ status, failure, allowsFallback, isRetryable });
    },
  );

  it.each<[number, object, string]>([
    [504, { type: 'timeout_error' }, 'timeout'],
    [400, { type: 'billing_error' }, 'operator'],
    [400, { type: 'permission_error' }, 'operator'],
    [400, { type: 'overloaded_error' }, 'server'],
    [400, { type: 'rate_limit_error' }, 'rate_limited'],
    [400, { type: 'request_too_large' }, 'context_length'],
    [400, { message: 'Your credit balance is too low to access the Anthropic API.' }, 'operator'],
    [
      400,
      { message: 'You have reached your specified API usage limits. You will regain access on …' },
      'operator',
    ],
    [429, { details: { error_code: 'enforced_spend_limit_reached' } }, 'operator'],
    [429, { details: { error_code: 'ramp_limit_exceeded' } }, 'rate_limited'],
    [400, { message: 'prompt is too long: 207791 tokens > 200000 maximum' }, 'context_length'],
    [
      400,
      { message: 'input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000' },
      'context_length',
    ],
    [400, { message: 'too many total text bytes' }, 'context_length'],
    [400, { message: 'Your request exceeded model token limit: 8192' }, 'context_length'],
    [500, { message: 'prompt is too long' }, 'server'],
    [400, { message: '`temperature` is deprecated for this model.' }, 'unsupported'],
    [
      400,
      { message: '"thinking.type.enabled" is not supported for this model. Use …' },
      'unsupported',
    ],
    [400, { message: 'This model does not support assistant message prefill.' }, 'unsupported'],
    [
      400,
      {
        message:
          'max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for x',
      },
      'unsupported',
    ],
  ])('classifies %d with %j as %s', (status, error, failure) => {
    expect(classify(status, error).failure).toBe(failure);
  });

  it.each<[string, string | undefined]>([
    ['messages.0.content.1.text: Field required', 'messages.0.content.1.text'],
    ['tools.2.custom.input_schema: JSON schema is invalid', 'tools.2.custom.input_schema'],
    ['max_tokens: Field required', 'max_tokens'],
    ['`temperature` is deprecated for this model.', 'temperature'],
    ['"thinking.type.disabled" is not supported for this model.', 'thinking.type.disabled'],
    ['messages: text content blocks must be non-empty', 'messages'],
    ['Something else: went wrong', undefined],
    ['Oh no', undefined],
  ])('reads the field of %j', (message, param) => {
    expect(classify(400, { message }).param).toBe(param);
  });

  it('names no field when the caller is not at fault', () => {
    expect(classify(500, { message: 'messages.0: oh' }).param).toBeUndefined();
  });

  it('reads the retry delay', () => {
    const error = classify(529, { type: 'overloaded_error' }, { 'retry-after': '3' });
    expect(error).toMatchObject({ failure: 'server', retryAfterMs: 3_000, isRetryable: false });
  });

  it('redacts keys and truncates the message', () => {
    const message = `invalid x-api-key sk-ant-api03-${'a'.repeat(40)}`;
    expect(classify(401, { message }).message).toBe('invalid x-api-[redacted]');
    expect(classify(400, { message: 'y'.repeat(5_000) }).message).toHaveLength(1_000);
  });

  it.each<[unknown, string]>([
    [{ type: 'error', error: { type: 'api_error', message: 'nested' } }, 'nested'],
    [{ error: 'plain' }, 'plain'],
    [{ message: 'flat' }, 'flat'],
    [{ error: { message: 7 } }, 'status 400'],
    [undefined, 'status 400'],
    ['<html>', 'status 400'],
  ])('reads the message of %j', (body, message) => {
    expect(classifyMessagesError(400, {}, body).message).toBe(message);
  });
});

describe(classifyInlineMessagesError.name, () => {
  it.each<[string, number, string]>([
    ['overloaded_error', 529, 'server'],
    ['rate_limit_error', 429, 'rate_limited'],
    ['api_error', 500, 'server'],
    ['invalid_request_error', 400, 'caller'],
    ['authentication_error', 401, 'operator'],
    ['timeout_error', 504, 'timeout'],
    ['request_too_large', 413, 'context_length'],
    ['surprise', 500, 'server'],
  ])('maps %s to status %d', (type, status, failure) => {
    const body = { type: 'error', error: { type, message: 'x' } };
    expect(classifyInlineMessagesError(body)).toMatchObject({ status, failure });
  });
});
