import type { IncomingHttpHeaders } from 'node:http';

/** A day; longer waits are read as this. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/** Returns the delay that a vendor asks for, in ms: `retry-after-ms`, or `retry-after` in seconds or as a date. */
export function readRetryAfterMs(
  headers: IncomingHttpHeaders,
  now = Date.now(),
): number | undefined {
  const milliseconds = Number(single(headers['retry-after-ms']));
  if (milliseconds > 0) return Math.min(milliseconds, MAX_RETRY_AFTER_MS);
  const value = single(headers['retry-after']);
  if (value === undefined) return undefined;
  const seconds = Number(value);
  const waitMs = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000;
  return waitMs >= 0 ? Math.min(waitMs, MAX_RETRY_AFTER_MS) : undefined;
}

function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header?.trim() || undefined;
}
