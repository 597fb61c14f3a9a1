import { ROUTE_STATES, type RouteState } from './route-health.js';

/** A process with the routes that it leaves alone; see `InstanceLive`. */
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
 * What processes have seen of a route; those that have seen nothing bad are not listed.
 *
 * @param upstreamModel undefined: of the provider as a whole; a family's ends in `*`
 */
export function statesOf(
  living: readonly Living[],
  provider: string,
  upstreamModel: string | undefined,
): { instance_id: string; state: string }[] {
  const beginning = upstreamModel?.endsWith('*') === true ? upstreamModel.slice(0, -1) : undefined;
  return living.flatMap(({ id, live }) => {
    const states = (live.routes ?? [])
      // Where there are several accounts, one of them is not the route.
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

/** Of processes that have seen nothing bad it is `healthy`. */
export function worstOf(instances: readonly { state: string }[]): RouteState {
  const states = new Set(instances.map(({ state }) => state));
  return ROUTE_STATES.findLast((state) => states.has(state)) ?? 'healthy';
}
