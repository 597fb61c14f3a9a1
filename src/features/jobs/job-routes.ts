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

/** Opens the accounts that jobs' routes go over. A job keeps no more of one than its id. */
@Injectable()
export class JobCredentials {
  constructor(private readonly byokUpstreams: ByokUpstreams) {}

  /** Undefined when the tenant has deleted its account since; shared capacity takes no such job. */
  async open(tenantId: string, route: JobRoute): Promise<OpenJobRoute | undefined> {
    const { credentialId, trafficMode } = route;
    if (trafficMode === 'shared') return route;
    const byok = credentialId && (await this.byokUpstreams.find(tenantId, credentialId));
    return byok ? { ...route, byok } : undefined;
  }
}

/** A route of a job. Before it is called, `JobCredentials` opens the account that it goes over. */
export interface JobRoute extends Omit<PlannedRoute, 'byok'> {
  /** Of the tenant's own account with the provider; undefined on shared capacity. */
  readonly credentialId: string | undefined;
}

/**
 * A route as a job keeps it: what was planned, and priced, at its submission holds to its end,
 * whatever becomes of the catalogue meanwhile.
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
  /** Exact prices in decimal digits. One that came with a later version is not there. */
  pricing: Readonly<Partial<Record<keyof ExactPricing, string>>>;
}

/** JSON of a job's routes, in order. Field by field, so that nothing secret slips in. */
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

/** The reverse of `storeRoutes`, of what the database has parsed. */
export function readRoutes(stored: readonly StoredRoute[]): JobRoute[] {
  return stored.map((route) => ({
    ...route,
    credentialId: route.credentialId,
    pricing: mapPrices(route.pricing, (price) => BigInt(price ?? 0)),
  }));
}

/** Field by field, so that no price can be forgotten. */
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

/** A route of a job, with the account that it goes over as it is now. */
export type OpenJobRoute = PlannedRoute & JobRoute;

/** An attempt as a job keeps it. */
export interface StoredAttempt extends Omit<TracedAttempt, 'startedAt'> {
  startedAt: string;
}

/** What has just become of a route. @param error undefined when the vendor took the job */
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

/** What became of the routes that a job has tried, in order. */
export function readAttempts(stored: readonly StoredAttempt[]): TracedAttempt[] {
  return stored.map((attempt) => ({
    ...attempt,
    startedAt: new Date(attempt.startedAt),
  }));
}
