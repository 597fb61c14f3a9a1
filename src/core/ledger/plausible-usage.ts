import type { Logger } from '@nestjs/common';
import type { Usage, UsageSource } from '../../canonical/usage.js';
import type { BillableRoute, UsageBounds } from '../../canonical/billable-route.js';
import type { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';

/** Minimum that some vendors bill for a recording. */
const LEAST_BILLED_MS = 10_000;

const CAPPED_FIELDS = [
  'webSearches',
  'inputTokens',
  'outputTokens',
  'audioMs',
  'videoSeconds',
] as const;

interface ReadUsage {
  usage: Usage;
  source: UsageSource;
}

/**
 * Completes a vendor's figures with estimates for output that was received and a prompt that was sent,
 * but not counted.
 *
 * @param estimate called only when a figure is missing
 */
export function fillUsage(reported: Usage, source: UsageSource, estimate: () => Usage): ReadUsage {
  if (reported.inputTokens > 0 && reported.outputTokens > 0) return { usage: reported, source };
  const estimated = estimate();
  const inputTokens = reported.inputTokens || estimated.inputTokens;
  const outputTokens = reported.outputTokens || estimated.outputTokens;
  if (inputTokens === reported.inputTokens && outputTokens === reported.outputTokens) {
    return { usage: reported, source };
  }
  return { usage: { ...reported, inputTokens, outputTokens }, source: 'estimated' };
}

/**
 * Caps usage at what the route's model can use at all. Audio that the gateway measured is billed by the
 * vendor's length, unless that is under half or over twice the measured one. Pure.
 *
 * @returns `cappedFields`: the changed fields; undefined: none
 */
export function capUsage(
  usage: Usage,
  source: UsageSource,
  { bounds, pricing }: Pick<BillableRoute, 'bounds' | 'pricing'>,
): ReadUsage & { cappedFields: (keyof Usage)[] | undefined } {
  if (bounds === undefined) return { usage, source, cappedFields: undefined };
  const webSearches = atMost(usage.webSearches, bounds.webSearches);
  // Each search makes the vendor read and count the whole prompt again.
  const inputTokens = atMost(usage.inputTokens, bounds.inputTokens, 1 + webSearches);
  const outputTokens = atMost(usage.outputTokens, bounds.outputTokens);
  const videoSeconds = atMost(usage.videoSeconds, bounds.videoSeconds);
  const audioMs = reasonableLength(usage.audioMs, bounds, pricing.audioMinute > 0n);
  const isWithin =
    inputTokens === usage.inputTokens &&
    outputTokens === usage.outputTokens &&
    webSearches === usage.webSearches &&
    audioMs === usage.audioMs &&
    videoSeconds === usage.videoSeconds;
  // Avoids copies in the common case.
  if (isWithin) return { usage, source, cappedFields: undefined };
  const caps = { webSearches, inputTokens, outputTokens, audioMs, videoSeconds };
  const cappedFields = CAPPED_FIELDS.filter((field) => caps[field] !== usage[field]);
  const cacheReadTokens = Math.min(usage.cacheReadTokens, inputTokens);
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens, inputTokens - cacheReadTokens);
  const capped: Usage = {
    ...usage,
    ...caps,
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteLongTokens: Math.min(usage.cacheWriteLongTokens, cacheWriteTokens),
    reasoningTokens: Math.min(usage.reasoningTokens, outputTokens),
  };
  return { usage: capped, source: audioMs > usage.audioMs ? 'estimated' : source, cappedFields };
}

function atMost(count: number, bound: number | undefined, times = 1): number {
  return bound === undefined ? count : Math.min(count, bound * times);
}

/** Returns the vendor's length, the measured one if the vendor's is implausibly short, or the maximum. */
function reasonableLength(
  audioMs: number,
  { measuredAudioMs: measuredMs, longestAudioMs = 0, spokenAudioMs }: UsageBounds,
  isBilled: boolean,
): number {
  if (spokenAudioMs !== undefined) return Math.min(audioMs, spokenAudioMs);
  if (measuredMs === undefined) return audioMs;
  if (isBilled && audioMs < measuredMs / 2) return measuredMs;
  return Math.min(audioMs, Math.max(measuredMs * 2 + LEAST_BILLED_MS, longestAudioMs));
}

/** Caps implausible usage and reports it to the operator. */
export class PlausibleUsage {
  constructor(
    private readonly metrics: Pick<GatewayMetrics, 'observeCappedUsage'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  cap(
    { requestId }: { readonly requestId: string },
    route: BillableRoute,
    read: Readonly<ReadUsage>,
  ): ReadUsage {
    const capped = capUsage(read.usage, read.source, route);
    if (capped.cappedFields) {
      const { provider, catalogueId } = route;
      this.metrics.observeCappedUsage(provider, catalogueId);
      const changes = capped.cappedFields.map(
        (field) => `${field} ${read.usage[field]} to ${capped.usage[field]}`,
      );
      this.logger.warn(
        `implausible usage from ${provider} capped (request ${requestId}): ${changes.join(', ')}`,
      );
    }
    return capped;
  }
}
