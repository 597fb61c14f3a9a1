import type { IncomingHttpHeaders } from 'node:http';

/** An account's remaining rate limit of one kind, and the time until it is fully restored. */
export interface Allowance {
  readonly left: number;
  /** The full limit, which refills steadily. Undefined when not reported. */
  readonly limit?: number;
  readonly resetMs: number;
}

/** Remaining rate limits of an account, from the headers of a vendor's response. */
export interface AccountAllowance {
  readonly requests?: Allowance | undefined;
  readonly tokens?: Allowance | undefined;
}

/** Returns undefined when the headers report no limits. */
export type ReadAllowance = (headers: IncomingHttpHeaders) => AccountAllowance | undefined;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Reads the common `x-ratelimit-*` headers, whose resets are durations such as `6m0s` or `12ms`. */
export function readAllowance(headers: IncomingHttpHeaders): AccountAllowance | undefined {
  const read = (what: string): Allowance | undefined =>
    allowanceOf(
      headers[`x-ratelimit-remaining-${what}`],
      headers[`x-ratelimit-limit-${what}`],
      durationMs(headers[`x-ratelimit-reset-${what}`]),
    );
  return together(read('requests'), read('tokens'));
}

/** Builds an allowance from header values; undefined when a required one is missing or not a number. */
export function allowanceOf(
  remaining: string | string[] | undefined,
  limit: string | string[] | undefined,
  resetMs: number | undefined,
): Allowance | undefined {
  const left = numberIn(remaining);
  if (left === undefined || resetMs === undefined) return undefined;
  const whole = numberIn(limit);
  return { left, resetMs, ...(whole !== undefined && { limit: whole }) };
}

export function together(
  requests: Allowance | undefined,
  tokens: Allowance | undefined,
): AccountAllowance | undefined {
  return requests || tokens ? { requests, tokens } : undefined;
}

function numberIn(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || !/^\d{1,15}$/.test(header)) return undefined;
  return Number(header);
}

/** Parses `1h2m3.5s`, or seconds without a unit. */
function durationMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(header)) return Number(header) * 1_000;
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h|d))+$/.test(header)) return undefined;
  let sumMs = 0;
  for (const [, amount, unit = ''] of header.matchAll(/([\d.]+)(ms|s|m|h|d)/g)) {
    sumMs += Number(amount) * (UNIT_MS[unit] ?? 0);
  }
  return sumMs;
}
