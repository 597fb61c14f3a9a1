import type { RoutingPreferences } from './canonical-request.js';

/** What a body that has been checked says of routes, in `provider` and `route`. */
export function readRoutingPreferences(
  value: Readonly<Record<string, unknown>>,
): RoutingPreferences {
  const provider = (value.provider ?? {}) as Record<string, unknown>;
  return {
    order: (provider.order ?? []) as string[],
    only: (provider.only ?? undefined) as string[] | undefined,
    ignore: (provider.ignore ?? []) as string[],
    allowFallbacks: provider.allow_fallbacks !== false,
    strategy: value.route === 'sort' ? 'sort' : 'fallback',
  };
}
