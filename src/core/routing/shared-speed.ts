import type { ProviderConfig } from '../../platform/config/app-config.js';
import type { RouteSpeed } from './health/speed-memory.js';
import type { HealthKey } from './route-health.js';

/**
 * How fast shared capacity has served a model of late: of several accounts with the provider that which answered
 * most often. Undefined where nothing is known.
 *
 * @param speeds by the route and account
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
