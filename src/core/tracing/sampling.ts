import type { TracesSampler } from '../../platform/config/app-config.js';
import type { TraceContext } from './trace-context.js';

const BITS = 52;

/**
 * Whether a trace belongs to the share that is sent. It depends on the trace id alone, so that all
 * requests of one trace are sent or none, here and wherever else the same rule is followed: the
 * random part of the id is compared with a threshold, as OpenTelemetry's consistent sampling does.
 */
export function isSampled(traceId: string, rate: number): boolean {
  const randomness = Number.parseInt(traceId.slice(-14, -1), 16) / 2 ** BITS;
  return randomness >= 1 - rate;
}

/** Whether the operator's collector gets a trace, by `OTEL_TRACES_SAMPLER`. */
export function isExported(
  { traceId, isParentSampled }: Pick<TraceContext, 'traceId' | 'isParentSampled'>,
  { followsParent, ratio }: TracesSampler,
): boolean {
  if (followsParent && isParentSampled !== undefined) return isParentSampled;
  return isSampled(traceId, ratio);
}
