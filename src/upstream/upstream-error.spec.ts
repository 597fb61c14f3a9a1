import { describe, expect, it } from '@jest/globals';
import { UpstreamError, type UpstreamFailure } from './upstream-error.js';

describe(UpstreamError.name, () => {
  it.each<[UpstreamFailure, boolean, boolean, 'provider' | 'model' | undefined]>([
    // failure, goes on to the next route, is tried again at once, counts against
    ['connect', true, false, 'provider'],
    ['reset', true, true, 'model'],
    ['timeout', true, false, 'model'],
    ['rate_limited', true, false, 'model'],
    ['server', true, true, 'model'],
    ['operator', true, false, 'model'],
    ['caller', false, false, undefined],
    ['context_length', true, false, undefined],
    ['unreadable', true, false, 'model'],
    ['cut', true, false, 'model'],
  ])('%s', (failure, allowsFallback, isRetryable, countsAgainst) => {
    const error = new UpstreamError({ failure, message: 'x' });
    const { name, allowsFallback: goesOn, isRetryable: again, countsAgainst: against } = error;
    expect([name, goesOn, again, against]).toEqual([
      'UpstreamError',
      allowsFallback,
      isRetryable,
      countsAgainst,
    ]);
  });

  it('is not tried again at once where the vendor asks to wait', () => {
    const failed = new UpstreamError({ failure: 'server', message: 'x', retryAfterMs: 0 });
    expect(failed.isRetryable).toBe(false);
    const broken = new UpstreamError({ failure: 'reset', message: 'x', retryAfterMs: 5 });
    expect(broken.isRetryable).toBe(true);
  });
});
