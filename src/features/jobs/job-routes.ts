import type { ExactPricing } from '../../canonical/exact-pricing.js';
import type { Usage } from '../../canonical/usage.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { TrafficMode, UsageBounds } from '../../canonical/billable-route.js';
import { Injectable } from '@nestjs/common';
import { ByokUpstreams } from '../../core/credentials/byok-upstreams.service.js';
import type { TracedAttempt } from '../../core/tracing/recorded-trace.js';
import { msSince } from '../../platform/time/timestamp.js';
import { UpstreamError } from '../../vendors/upstream-error.js';

/** Opens the BYOK accounts of job routes. Jobs store only the credential's id. */
@Injectable()
export class JobCredentials {
  constructor(private readonly byokUpstreams: ByokUpstreams) {}

  /**
   * Returns undefined when the tenant has deleted the credential. Such a job never falls back to
   * shared capacity.
   */
  async open(tenantId: string, route: JobRoute): Promise<OpenJobRoute | undefined> {
    const { credentialId, trafficMode } = route;
    if (trafficMode === 'shared') return route;
    const byok = credentialId && (await this.byokUpstreams.find(tenantId, credentialId));
    return byok ? { ...route, byok } : undefined;
  }
}

/** A route of a job. `JobCredentials` opens its account before a call. */
export interface JobRoute extends Omit<PlannedRoute, 'byok'> {
  /** The tenant's BYOK credential; undefined on shared capacity. */
  readonly credentialId: string | undefined;
}

/**
 * A stored route. The plan and prices of the submission apply until the job ends, whatever changes
 * in the catalogue.
 */
export interface StoredRoute {
  model: string;
  provider: string;
  account?: string | undefined;
  scopeKeyId?: string | undefined;
  catalogueId: string;
  upstreamModel: string;
  trafficMode: TrafficMode;
  byokFeePercent?: number;
  configVersion?: number | null;
  credentialId?: string;
  ceiling: Usage;
  bounds?: UsageBounds | undefined;
  maxCost?: number | undefined;
  limits: CallLimits;
  /** Exact prices in decimal digits. Prices added in later versions are absent. */
  pricing: Readonly<Partial<Record<keyof ExactPricing, string>>>;
}

/** Serializes routes to JSON field by field, so that no secret is stored. */
export function storeRoutes(routes: readonly PlannedRoute[]): string {
  return JSON.stringify(
    routes.map((route): StoredRoute => {
      const { model, provider, account, scopeKeyId, catalogueId, upstreamModel } = route;
      const { trafficMode, byokFeePercent } = route;
      const { ceiling, bounds, limits, byok, configVersion, maxCost } = route;
      return {
        model,
        provider,
        account,
        scopeKeyId,
        catalogueId,
        upstreamModel,
        trafficMode,
        byokFeePercent,
        credentialId: byok?.credential.id,
        ceiling,
        bounds,
        maxCost,
        limits,
        configVersion,
        pricing: mapPrices(route.pricing, String),
      };
    }),
  );
}

/** Reads routes from JSON that the database has parsed. */
export function readRoutes(stored: readonly StoredRoute[]): JobRoute[] {
  return stored.map((route) => ({
    ...route,
    credentialId: route.credentialId,
    pricing: mapPrices(route.pricing, (price) => BigInt(price ?? 0)),
  }));
}

/** Maps each field explicitly, so that the compiler finds a missing price. */
function mapPrices<From, To>(
  prices: Readonly<Partial<Record<keyof ExactPricing, From>>>,
  map: (price: From | undefined) => To,
): Record<keyof ExactPricing, To> {
  return {
    prompt: map(prices.prompt),
    completion: map(prices.completion),
    request: map(prices.request),
    image: map(prices.image),
    cacheRead: map(prices.cacheRead),
    cacheWrite: map(prices.cacheWrite),
    cacheWriteLong: map(prices.cacheWriteLong),
    reasoning: map(prices.reasoning),
    webSearch: map(prices.webSearch),
    audioCharacter: map(prices.audioCharacter),
    audioByte: map(prices.audioByte),
    audioMinute: map(prices.audioMinute),
    videoSecond: map(prices.videoSecond),
  };
}

/** A job route with its current account. */
export type OpenJobRoute = PlannedRoute & JobRoute;

/** A stored attempt. */
export interface StoredAttempt extends Omit<TracedAttempt, 'startedAt'> {
  startedAt: string;
}

/** Describes an attempt. @param error undefined when the vendor accepted the job */
export function attemptOf(
  { model, provider, account, scopeKeyId }: JobRoute,
  startedAt: Date,
  error?: unknown,
): StoredAttempt {
  const isFailure = error instanceof UpstreamError;
  return {
    route: { model, provider, account, scopeKeyId },
    startedAt: startedAt.toISOString(),
    durationMs: msSince(startedAt),
    outcome: isFailure ? error.failure : 'answered',
    status: isFailure ? error.status : undefined,
  };
}

/** Reads stored attempts in order. */
export function readAttempts(stored: readonly StoredAttempt[]): TracedAttempt[] {
  return stored.map((attempt) => ({
    ...attempt,
    startedAt: new Date(attempt.startedAt),
  }));
}
