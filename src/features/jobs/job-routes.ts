import type { ExactPricing } from '../../canonical/exact-pricing.js';
import type { Usage } from '../../canonical/usage.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { TrafficMode, UsageBounds } from '../../canonical/billable-route.js';

/** A route of a job. Before it is called, `JobAccounts` opens the account that it goes over. */
export interface JobRoute extends Omit<PlannedRoute, 'byok'> {
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
      const { ceiling, bounds, limits, byok } = route;
      const entries = Object.entries(route.pricing) as [keyof ExactPricing, bigint][];
      const pricing = Object.fromEntries(entries.map(([key, price]) => [key, String(price)]));
      return {
        model,
        provider,
        catalogueId,
        upstreamModel,
        trafficMode,
        byokFeePercent,
        credentialId: byok?.credential.id,
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
