import type { TracesSampler } from '../../platform/config/app-config.js';
import type { TraceContext } from './trace-context.js';

const BITS = 52;

/**
 * Returns whether a trace is sampled. Depends on the trace id alone, so that all requests of a
 * trace are sampled or none, here and wherever the same rule applies: compares the random part of
 * the id with a threshold, like OpenTelemetry's consistent sampling.
 */
export function isSampled(traceId: string, rate: number): boolean {
  const randomness = Number.parseInt(traceId.slice(-14, -1), 16) / 2 ** BITS;
  return randomness >= 1 - rate;
}

/** Returns whether the operator's collector gets a trace, by `OTEL_TRACES_SAMPLER`. */
export function isExported(
  { traceId, isParentSampled }: Pick<TraceContext, 'traceId' | 'isParentSampled'>,
  { followsParent, ratio }: TracesSampler,
): boolean {
  if (followsParent && isParentSampled !== undefined) return isParentSampled;
  return isSampled(traceId, ratio);
}
