import type { ExactPricing } from '../../canonical/exact-pricing.js';
import type { TrafficMode, UsageBounds } from '../../canonical/billable-request.js';
import type { Usage } from '../../canonical/usage.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import type { CallLimits } from '../../vendors/upstream.js';
import { Injectable } from '@nestjs/common';
import { OwnUpstreams } from '../../core/credentials/own-upstreams.service.js';
import type { TracedAttempt } from '../../core/tracing/recorded-trace.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import type { JobClaim } from './job-claims.repository.js';

/** Opens the accounts that jobs' routes go over. A job keeps no more of one than its id. */
@Injectable()
export class JobAccounts {
  constructor(private readonly ownUpstreams: OwnUpstreams) {}

  /** Undefined when the tenant has deleted its account since; shared capacity takes no such job. */
  async open(tenantId: string, route: JobRoute): Promise<OpenJobRoute | undefined> {
    const { credentialId, trafficMode } = route;
    if (trafficMode === 'shared') return route;
    const own = credentialId && (await this.ownUpstreams.find(tenantId, credentialId));
    return own ? { ...route, own } : undefined;
  }
}

/** A route of a job. Before it is called, `JobAccounts` opens the account that it goes over. */
export interface JobRoute extends Omit<PlannedRoute, 'own'> {
  /** Of the tenant's own account with the provider; undefined on shared capacity. */
  readonly credentialId: string | undefined;
}

/**
 * A route as a job keeps it: what was planned, and priced, at its submission holds to its end,
 * whatever becomes of the catalogue meanwhile.
 */
interface StoredRoute {
  model: string;
  provider: string;
  catalogueId: string;
  upstreamModel: string;
  trafficMode: TrafficMode;
  byokFeePercent?: number;
  credentialId?: string;
  ceiling: Usage;
  bounds?: UsageBounds | undefined;
  limits: CallLimits;
  /** Exact prices in decimal digits. */
  pricing: Record<keyof ExactPricing, string>;
}

/** JSON of a job's routes, in order. Field by field, so that nothing secret slips in. */
export function storeRoutes(routes: readonly PlannedRoute[]): string {
  return JSON.stringify(
    routes.map((route): StoredRoute => {
      const { model, provider, catalogueId, upstreamModel, trafficMode, byokFeePercent } = route;
      const { ceiling, bounds, limits, own } = route;
      const entries = Object.entries(route.pricing) as [keyof ExactPricing, bigint][];
      const pricing = Object.fromEntries(entries.map(([key, price]) => [key, String(price)]));
      return {
        model,
        provider,
        catalogueId,
        upstreamModel,
        trafficMode,
        byokFeePercent,
        credentialId: own?.credential.id,
        ceiling,
        bounds,
        limits,
        pricing: pricing as StoredRoute['pricing'],
      };
    }),
  );
}

/** The reverse of `storeRoutes`. */
export function readRoutes(stored: string): JobRoute[] {
  return (JSON.parse(stored) as StoredRoute[]).map((route) => {
    const entries = Object.entries(route.pricing).map(([key, price]) => [key, BigInt(price)]);
    return {
      ...route,
      credentialId: route.credentialId,
      pricing: Object.fromEntries(entries) as ExactPricing,
    };
  });
}

/** A route of a job, with the account that it goes over as it is now. */
export type OpenJobRoute = PlannedRoute & JobRoute;

interface StoredAttempt extends Omit<TracedAttempt, 'startedAt'> {
  startedAt: string;
}

/**
 * The claim with one more attempt, which is written with the job's next move.
 *
 * @param error undefined when the vendor took the job
 */
export function withAttempt(
  { leaseId, job }: JobClaim,
  { model, provider }: JobRoute,
  startedAt: Date,
  error?: unknown,
): JobClaim {
  const isFailure = error instanceof UpstreamError;
  const attempt: TracedAttempt = {
    route: { model, provider },
    startedAt,
    durationMs: Date.now() - startedAt.getTime(),
    outcome: isFailure ? error.failure : 'answered',
    status: isFailure ? error.status : undefined,
  };
  const attempts = JSON.stringify([...readAttempts(job.attempts), attempt]);
  return { leaseId, job: { ...job, attempts } };
}

/** What became of the routes that a job has tried, in order. */
export function readAttempts(stored: string): TracedAttempt[] {
  return (JSON.parse(stored) as StoredAttempt[]).map((attempt) => ({
    ...attempt,
    startedAt: new Date(attempt.startedAt),
  }));
}
