import { describe, expect, it } from '@jest/globals';
import type { UpstreamFailure } from '../../upstream-error.js';
import {
  classifyGenerateContentError,
  classifyInlineGenerateContentError,
  isGenerateContentError,
} from './classify-generate-content-error.js';

const error = (code: number, status: string, message: string, details?: object[]): object => ({
  error: { code, message, status, ...(details && { details }) },
});
const retryInfo = (retryDelay: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});
const quotaFailure = (quotaId: string): object => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaId }],
});

describe(classifyGenerateContentError.name, () => {
  it.each<[number, string, string, UpstreamFailure]>([
    [400, 'INVALID_ARGUMENT', 'Invalid value at contents[0].', 'caller'],
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
      'context_length',
    ],
    [
      400,
      'INVALID_ARGUMENT',
      'Request payload size exceeds the limit: 20971520 bytes.',
      'context_length',
    ],
    [413, 'INVALID_ARGUMENT', 'Too large.', 'context_length'],
    [
      400,
      'INVALID_ARGUMENT',
      'Thinking level MINIMAL is not supported for this model. Please retry.',
      'unsupported',
    ],
    [400, 'INVALID_ARGUMENT', 'Multiple candidates is not enabled for this model', 'unsupported'],
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'operator'],
    [400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.', 'operator'],
    [400, 'FAILED_PRECONDITION', 'Allowlisting is needed.', 'operator'],
    [401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.', 'operator'],
    [402, 'X', 'Pay.', 'operator'],
    [403, 'PERMISSION_DENIED', 'Permission denied on resource.', 'operator'],
    [404, 'NOT_FOUND', 'Publisher Model was not found.', 'operator'],
    [408, 'X', 'Slow.', 'timeout'],
    [409, 'ABORTED', 'Again.', 'server'],
    [429, 'RESOURCE_EXHAUSTED', 'Resource exhausted, please try again later.', 'rate_limited'],
    [429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.', 'operator'],
    [499, 'CANCELLED', 'Cancelled.', 'server'],
    [500, 'INTERNAL', 'Internal error encountered.', 'server'],
    [503, 'UNAVAILABLE', 'The model is overloaded and not available.', 'server'],
    [504, 'DEADLINE_EXCEEDED', 'Deadline exceeded.', 'timeout'],
    [302, 'X', 'Moved.', 'unreadable'],
  ])('classifies %i %s %j as %s', (status, code, message, failure) => {
    const body = error(status, code, message);
    expect(classifyGenerateContentError(status, {}, body)).toMatchObject({
      failure,
      status,
      message,
    });
    expect(classifyGenerateContentError(status, {}, [body])).toMatchObject({ failure, message });
  });

  it.each<[object[], Record<string, string>, object]>([
    [[retryInfo('34.4s')], {}, { failure: 'rate_limited', retryAfterMs: 34_400 }],
    [[retryInfo('0.25s')], {}, { failure: 'rate_limited', retryAfterMs: 250 }],
    [[retryInfo('5s')], { 'retry-after': '2' }, { retryAfterMs: 2_000 }],
    [[retryInfo('soon')], {}, { retryAfterMs: undefined }],
    [
      [quotaFailure('GenerateRequestsPerMinutePerProjectPerModel'), retryInfo('3s')],
      {},
      { failure: 'rate_limited', retryAfterMs: 3_000 },
    ],
    [
      [quotaFailure('GenerateRequestsPerDayPerProjectPerModel'), retryInfo('3s')],
      {},
      { failure: 'operator' },
    ],
  ])('reads the retry delay from %j', (details, headers, expected) => {
    const body = error(429, 'RESOURCE_EXHAUSTED', 'Slow down.', details);
    expect(classifyGenerateContentError(429, headers, body)).toMatchObject(expected);
  });

  it.each([
    undefined,
    null,
    'x',
    [],
    {},
    { error: null },
    { error: 'x' },
    { error: { message: 5 } },
  ])('uses the status when the body is %j', (body) => {
    expect(classifyGenerateContentError(503, {}, body)).toMatchObject({ failure: 'server' });
  });

  it('redacts credentials', () => {
    const message =
      'Bad ya29.a0AfB_secret-token and AIzaSyA1234567890abcdefghij, Bearer abcdefghijk';
    const { message: shown } = classifyGenerateContentError(400, {}, error(400, 'X', message));
    expect(shown).toBe('Bad [redacted] and [redacted], [redacted]');
  });
});

describe(classifyInlineGenerateContentError.name, () => {
  it.each<[object, number, UpstreamFailure]>([
    [{ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }, 503, 'server'],
    [{ error: { status: 'RESOURCE_EXHAUSTED', message: 'x' } }, 429, 'rate_limited'],
    [{ error: { code: 13, status: 'INTERNAL', message: 'x' } }, 500, 'server'],
    [{ error: { message: 'x' } }, 500, 'server'],
  ])('maps %j to its status', (body, status, failure) => {
    expect(classifyInlineGenerateContentError(body)).toMatchObject({ status, failure });
  });
});

describe(isGenerateContentError.name, () => {
  it.each<[unknown, boolean]>([
    [{ error: {} }, true],
    [[{ error: {} }], true],
    [{ error: null }, false],
    [{ candidates: [] }, false],
    [[], false],
    [null, false],
  ])('returns for %j: %j', (body, expected) => {
    expect(isGenerateContentError(body)).toBe(expected);
  });
});
