import { UpstreamError } from './upstream-error.js';

/**
 * An answer that nobody can read.
 *
 * @param message what it is instead, as `an answer without pictures`
 * @param status with which the vendor answered, where the failure is to say so
 */
export function unreadable(message: string, status?: number): UpstreamError {
  return new UpstreamError({
    failure: 'unreadable',
    message,
    ...(status !== undefined && { status }),
  });
}
