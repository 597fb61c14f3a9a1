import type { ProviderConfig } from '../../platform/config/app-config.js';
import type { RouteSpeed } from './health/speed-memory.js';
import type { HealthKey } from './route-health.js';

/**
 * Returns the recent speed of shared capacity for a model; of several accounts, that of the one
 * with most answers. Undefined when unknown.
 *
 * @param speeds by route and account
 */
export function sharedSpeed(
  speeds: { speedOf(key: HealthKey): RouteSpeed | undefined },
  { provider, upstreamModel }: Pick<HealthKey, 'provider' | 'upstreamModel'>,
  accounts: ProviderConfig['accounts'] = [],
): RouteSpeed | undefined {
  let most = speeds.speedOf({ provider, upstreamModel });
  for (const { id: account } of accounts) {
    const speed = speeds.speedOf({ provider, upstreamModel, account });
    if ((speed?.samples ?? 0) > (most?.samples ?? -1)) most = speed;
  }
  return most;
}
