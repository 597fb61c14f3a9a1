import { describe, expect, it } from '@jest/globals';
import { beyondLimit, UpstreamError, type UpstreamFailure } from './upstream-error.js';

describe(UpstreamError.name, () => {
  it.each<[UpstreamFailure, boolean, boolean, 'provider' | 'model' | undefined]>([
    // failure, allows fallback, is retried on the same route, counts against
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
    ['slow_reader', true, false, undefined],
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

  it('does not count an oversized answer against the model', () => {
    expect(beyondLimit('x').countsAgainst).toBeUndefined();
    expect(beyondLimit('x').without('y')).toMatchObject({ isBeyondLimit: true });
  });

  it.each<[UpstreamFailure, number | undefined, 'no' | 'unknown']>([
    ['connect', undefined, 'no'],
    ['rate_limited', 429, 'no'],
    ['operator', 401, 'no'],
    ['caller', 400, 'no'],
    ['unsupported', undefined, 'no'],
    ['server', 500, 'no'],
    ['server', 503, 'no'],
    ['timeout', 408, 'no'],
    ['server', 502, 'unknown'],
    ['server', 504, 'unknown'],
    ['timeout', 504, 'unknown'],
    ['server', undefined, 'unknown'],
    ['timeout', undefined, 'unknown'],
    ['reset', undefined, 'unknown'],
    ['unreadable', 200, 'unknown'],
    ['cut', undefined, 'unknown'],
    ['slow_reader', undefined, 'unknown'],
  ])('%s with status %p leaves work accepted: %s', (failure, status, accepted) => {
    const error = new UpstreamError({ failure, message: 'x', status });
    expect([error.accepted, error.without('secret').accepted]).toEqual([accepted, accepted]);
  });

  it.each<[UpstreamFailure, string | undefined, boolean]>([
    ['timeout', undefined, true],
    ['connect', 'UND_ERR_CONNECT_TIMEOUT', true],
    ['connect', 'ETIMEDOUT', true],
    ['connect', 'ECONNREFUSED', false],
    ['connect', undefined, false],
    ['reset', 'ETIMEDOUT', false],
  ])('%s with code %p is a timeout: %s', (failure, code, isTimeout) => {
    const cause = code && Object.assign(new Error('x'), { code });
    const error = new UpstreamError({ failure, message: 'x' }, { cause });
    expect([error.isTimeout, error.without('secret').isTimeout]).toEqual([isTimeout, isTimeout]);
  });

  it('keeps an explicit acceptance', () => {
    const error = new UpstreamError({ failure: 'timeout', message: 'x', accepted: 'no' });
    expect([error.accepted, error.without('secret').accepted]).toEqual(['no', 'no']);
  });

  it('is not retried at once when the vendor asks to wait', () => {
    const failed = new UpstreamError({ failure: 'server', message: 'x', retryAfterMs: 0 });
    expect(failed.isRetryable).toBe(false);
    const conflict = new UpstreamError({ failure: 'server', message: 'x', status: 409 });
    expect(conflict.isRetryable).toBe(false);
    const broken = new UpstreamError({ failure: 'reset', message: 'x', retryAfterMs: 5 });
    expect(broken.isRetryable).toBe(true);
  });
});
