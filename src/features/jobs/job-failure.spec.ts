import { describe, expect, it } from '@jest/globals';
import { ProviderError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { MediaFailedError } from '../../vendors/media-work.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import { DEADLINE_PASSED, reasonOf, toGatewayError, toJobFailure } from './job-failure.js';

describe(toJobFailure.name, () => {
  it('keeps the words and the code of a vendor that has given up', () => {
    expect(toJobFailure(new MediaFailedError('moderation_blocked', 'It was blocked.'))).toEqual({
      code: 'moderation_blocked',
      message: 'It was blocked.',
      type: 'provider_error',
      status: 502,
      param: 'model',
    });
  });

  it('takes what a filter refuses for the fault of the prompt', () => {
    expect(toJobFailure(new MediaFailedError('content_policy_violation', 'No.'))).toMatchObject({
      code: 'content_policy_violation',
      type: 'invalid_request_error',
      status: 400,
      param: 'prompt',
    });
  });

  it('says no more of a fault of its own than that there was one', () => {
    const failure = toJobFailure(new TypeError('password is secret'));
    expect(failure).toMatchObject({ code: 'internal_error', status: 500 });
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  it('says when to try again, if that is known', () => {
    expect(toJobFailure(new RateLimitError('model', 'Later.', 7))).toMatchObject({
      code: 'rate_limit_error',
      retryAfterSeconds: 7,
    });
    expect(toJobFailure(DEADLINE_PASSED)).not.toHaveProperty('retryAfterSeconds');
  });
});

describe(toGatewayError.name, () => {
  it.each([
    new RateLimitError('model', 'Later.', 7),
    new ProviderError('It broke.', { param: 'provider-credentials' }),
    DEADLINE_PASSED,
  ])('gives back what a failure was made of: %s', (error) => {
    const { status, type, param, message, retryAfterSeconds } = error;
    expect(toGatewayError(toJobFailure(error))).toMatchObject({
      ...{ status, type, param, message, retryAfterSeconds },
    });
  });
});

describe(reasonOf.name, () => {
  it('has the summary of a vendor’s failure, the message of an error, and else what was thrown', () => {
    const upstream = new UpstreamError({ failure: 'timeout', message: 'no answer' });
    expect(reasonOf(upstream)).toBe(upstream.summary);
    expect(reasonOf(new Error('away'))).toBe('away');
    expect(reasonOf('away')).toBe('away');
  });
});
