import { describe, expect, it } from '@jest/globals';
import type { UpstreamFailure } from '../../upstream-error.js';
import { classifyConverseError, classifyStreamError } from './classify-converse-error.js';

const named = (type: string) => ({ 'x-amzn-errortype': `${type}:http://internal.amazon.com/x/` });

describe(classifyConverseError.name, () => {
  it.each<[number, string, UpstreamFailure]>([
    [429, 'ThrottlingException', 'rate_limited'],
    [400, 'ServiceQuotaExceededException', 'rate_limited'],
    [429, 'ModelNotReadyException', 'rate_limited'],
    [408, 'ModelTimeoutException', 'timeout'],
    [403, 'AccessDeniedException', 'operator'],
    [403, 'UnrecognizedClientException', 'operator'],
    [403, 'ExpiredTokenException', 'operator'],
    [403, 'InvalidSignatureException', 'operator'],
    [400, 'IncompleteSignature', 'operator'],
    [404, 'ResourceNotFoundException', 'operator'],
    [424, 'ModelErrorException', 'server'],
    [500, 'InternalServerException', 'server'],
    [503, 'ServiceUnavailableException', 'server'],
    [400, 'ValidationException', 'caller'],
    [400, 'ValidationError', 'caller'],
    [400, 'SerializationException', 'caller'],
    [500, 'constructor', 'server'],
  ])('classifies %i %s as %s', (status, type, failure) => {
    const body = { message: 'Something about it.' };
    expect(classifyConverseError(status, named(type), body).failure).toBe(failure);
    const inBody = { ...body, __type: `com.amazon.bedrock#${type}` };
    expect(classifyConverseError(status, {}, inBody).failure).toBe(failure);
  });

  it.each<[number, UpstreamFailure]>([
    [400, 'caller'],
    [401, 'operator'],
    [403, 'operator'],
    [404, 'operator'],
    [408, 'timeout'],
    [413, 'context_length'],
    [424, 'server'],
    [429, 'rate_limited'],
    [502, 'server'],
    [503, 'server'],
    [504, 'timeout'],
    [302, 'unreadable'],
  ])('classifies %i without an error name as %s', (status, failure) => {
    const error = classifyConverseError(status, {}, undefined);
    expect([error.failure, error.status, error.message]).toEqual([
      failure,
      status,
      `status ${status}`,
    ]);
  });

  it.each([
    'Input is too long for requested model.',
    'The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000',
    'The model returned the following errors: too many total text bytes: 30000000 > 25165824',
    "This model's maximum context length is 131072 tokens.",
    'Too many input tokens. Max input tokens: 8192',
  ])('recognizes a prompt that is too long: %s', (message) => {
    const error = classifyConverseError(400, named('ValidationException'), { message });
    expect(error.failure).toBe('context_length');
    expect(error.message).toBe(message);
  });

  it.each([
    'The provided model identifier is invalid.',
    'Invocation of model ID x with on-demand throughput isn’t supported. Retry with an inference profile.',
    'This model version has reached the end of its life.',
    'Operation not allowed',
  ])('recognizes an operator error: %s', (message) => {
    expect(classifyConverseError(400, named('ValidationException'), { message }).failure).toBe(
      'operator',
    );
  });

  it.each([
    ['messages.0: text content blocks must be non-empty', 'messages'],
    ['The toolConfig field must be defined when using toolUse', 'tools'],
    ["Value '3' at 'inferenceConfig.temperature' must be at most 1", 'temperature'],
    ['output_config.format.schema: not supported', 'response_format'],
    ['`top_p` is deprecated for this model.', 'top_p'],
    ['Something else', undefined],
  ])('reads the field in %j', (message, param) => {
    const error = classifyConverseError(400, named('ValidationException'), { message });
    expect([error.failure, error.param]).toEqual(['caller', param]);
  });

  it('reads the retry delay', () => {
    const headers = { ...named('ThrottlingException'), 'retry-after': '7' };
    expect(classifyConverseError(429, headers, {}).retryAfterMs).toBe(7_000);
  });

  it("hides the operator's account from callers", () => {
    const message =
      'The profile arn:aws:bedrock:us-east-1:123456789012:inference-profile/x of AKIAIOSFODNN7EXAMPLE is bad';
    const error = classifyConverseError(400, named('ValidationException'), { message });
    expect(error.message).toBe('The profile arn:…:inference-profile/x of [redacted] is bad');
  });

  it('truncates a long message', () => {
    const error = classifyConverseError(400, {}, { message: 'x'.repeat(5_000) });
    expect(error.message).toHaveLength(1_000);
  });
});

describe(classifyStreamError.name, () => {
  it.each<[string | undefined, UpstreamFailure]>([
    ['throttlingException', 'rate_limited'],
    ['modelStreamErrorException', 'server'],
    ['internalServerException', 'server'],
    ['serviceUnavailableException', 'server'],
    ['modelTimeoutException', 'timeout'],
    ['validationException', 'caller'],
    ['somethingNewException', 'server'],
    [undefined, 'server'],
  ])('classifies %s as %s', (name, failure) => {
    expect(classifyStreamError(name, { message: 'It failed.' })).toMatchObject({
      failure,
      message: 'It failed.',
    });
  });

  it('recognizes a prompt that is too long, and a failure without a message', () => {
    const body = { message: 'Input is too long for requested model.' };
    expect(classifyStreamError('validationException', body).failure).toBe('context_length');
    expect(classifyStreamError('throttlingException', 'odd').message).toBe('throttlingException');
  });
});
