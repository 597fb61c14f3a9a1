import { jest } from '@jest/globals';
import { COVERS_ALL, GOOD, World, type Script } from './routing-environment.js';
import type { CanonicalEvent } from '../../src/canonical/canonical-event.js';
import type { Plan, RouteCover } from '../../src/core/routing/plan.js';

export const HEDGE_MS = 100;
export const slow = (silentMs: number, script: Script = GOOD): Script => ({ ...script, silentMs });
export const NEVER = 1_000_000;

/** Returns the answer to a request that is hedged after 100 ms. */
export function ask(
  environment: World,
  fields: Record<string, unknown> = {},
  cover: RouteCover = COVERS_ALL,
) {
  const events: CanonicalEvent[] = [];
  const options = {
    events,
    failure: undefined as unknown,
    isOver: false,
    plan: undefined as Plan | undefined,
  };
  const read = async (): Promise<void> => {
    const plan = await environment.plan({ hedge_ms: HEDGE_MS, ...fields });
    options.plan = plan;
    for await (const event of environment.service.open(plan, cover)) events.push(event);
  };
  void read()
    .catch((thrown: unknown) => (options.failure = thrown))
    .finally(() => (options.isOver = true));
  return options;
}

export const routeIn = ({ events }: { events: CanonicalEvent[] }): string | undefined => {
  const [named] = events;
  return named?.type === 'route' ? named.route.provider : undefined;
};
export const attemptsOf = ({ plan }: { plan: Plan | undefined }) =>
  plan!.attempts.map(({ route, outcome, isHedge = false, isUnbilled = false }) => [
    `${route.provider} ${outcome}`,
    ...(isHedge ? ['hedge'] : []),
    ...(isUnbilled ? ['spare'] : []),
  ]);
export const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
