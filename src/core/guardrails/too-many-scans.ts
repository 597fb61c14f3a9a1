import { RateLimitError } from '../../platform/errors/gateway-errors.js';

/** A search takes 5 s at most, and most take far less. */
const RETRY_SECONDS = 5;

/** For a tenant whose own texts wait in too great a number to be looked at. */
export function tooManyScans(): RateLimitError {
  return new RateLimitError(
    'guardrails',
    'Too many long texts of this account wait to be looked at by its guardrails. Try again later, send less text at once, or simplify the patterns.',
    RETRY_SECONDS,
  );
}
