import { ROUTE_STATES, type RouteState } from './route-health.js';

/** A process with its paused routes; see `InstanceLive`. */
interface Living {
  readonly id: string;
  readonly live: {
    readonly routes?: readonly {
      provider: string;
      account?: string;
      model: string | null;
      state: string;
    }[];
  };
}

/**
 * Returns the state of a route per process; processes that see it healthy are omitted.
 *
 * @param upstreamModel undefined for the provider as a whole; that of a model family ends in `*`
 */
export function statesOf(
  living: readonly Living[],
  provider: string,
  upstreamModel: string | undefined,
): { instance_id: string; state: string }[] {
  const beginning = upstreamModel?.endsWith('*') === true ? upstreamModel.slice(0, -1) : undefined;
  return living.flatMap(({ id, live }) => {
    const states = (live.routes ?? [])
      // One of several accounts does not stand for the route.
      .filter((route) => route.provider === provider && route.account === undefined)
      .filter(({ model }) =>
        beginning === undefined
          ? model === (upstreamModel ?? null)
          : model?.startsWith(beginning) === true,
      )
      .map(({ state }) => state);
    return states.length > 0 ? [{ instance_id: id, state: states[0]! }] : [];
  });
}

/** Returns the worst state; `healthy` when no process reports one. */
export function worstOf(instances: readonly { state: string }[]): RouteState {
  const states = new Set(instances.map(({ state }) => state));
  return ROUTE_STATES.findLast((state) => states.has(state)) ?? 'healthy';
}
