import { describe, expect, it } from '@jest/globals';
import { ProviderError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import { MediaFailedError } from '../../vendors/media-work.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import { DEADLINE_PASSED, reasonOf, toGatewayError, toJobFailure } from './job-failure.js';

describe(toJobFailure.name, () => {
  it("keeps a vendor's message and code", () => {
    expect(toJobFailure(new MediaFailedError('moderation_blocked', 'It was blocked.'))).toEqual({
      code: 'moderation_blocked',
      message: 'It was blocked.',
      type: 'provider_error',
      status: 502,
      param: 'model',
    });
  });

  it('treats a content filter rejection as an error of the prompt', () => {
    expect(toJobFailure(new MediaFailedError('content_policy_violation', 'No.'))).toMatchObject({
      code: 'content_policy_violation',
      type: 'invalid_request_error',
      status: 400,
      param: 'prompt',
    });
  });

  it('hides details of internal errors', () => {
    const failure = toJobFailure(new TypeError('password is secret'));
    expect(failure).toMatchObject({ code: 'internal_error', status: 500 });
    expect(JSON.stringify(failure)).not.toContain('secret');
  });

  it('includes the retry time if known', () => {
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
  ])('restores the error of a failure: %s', (error) => {
    const { status, type, param, message, retryAfterSeconds } = error;
    expect(toGatewayError(toJobFailure(error))).toMatchObject({
      ...{ status, type, param, message, retryAfterSeconds },
    });
  });
});

describe(reasonOf.name, () => {
  it("returns a vendor failure's summary, an error's message, or the thrown value", () => {
    const upstream = new UpstreamError({ failure: 'timeout', message: 'no answer' });
    expect(reasonOf(upstream)).toBe(upstream.summary);
    expect(reasonOf(new Error('away'))).toBe('away');
    expect(reasonOf('away')).toBe('away');
  });
});
