import type { TracesSampler } from '../../platform/config/app-config.js';
import { isSampled } from './is-sampled.js';
import type { TraceContext } from './trace-context.js';

/** Whether the operator's collector gets a trace, by `OTEL_TRACES_SAMPLER`. */
export function isExported(
  { traceId, isParentSampled }: Pick<TraceContext, 'traceId' | 'isParentSampled'>,
  { followsParent, ratio }: TracesSampler,
): boolean {
  if (followsParent && isParentSampled !== undefined) return isParentSampled;
  return isSampled(traceId, ratio);
}
