import type { CachedAnswer } from './cache/cached-answer.js';
import type { CanonicalEvent, RouteEvent } from '../../canonical/canonical-event.js';
import { FREE } from '../../canonical/exact-pricing.js';
import { NO_USAGE } from '../../canonical/usage.js';
import type { WorkEvent } from '../../canonical/work-event.js';
import type { RoutableRequest } from '../../canonical/work-request.js';
import { OpenedAnswer } from './opened-answer.js';
import type { Plan, PlannedRoute } from './plan.js';

/** The route of an answer that is given again: named after the one that gave it, and free. */
export function freeRoute({ route }: CachedAnswer): PlannedRoute {
  return {
    ...route,
    pricing: FREE,
    trafficMode: 'shared',
    ceiling: NO_USAGE,
    // Nobody is called, so there is nothing to wait for.
    limits: { firstByteMs: 0, idleMs: 0, requestMs: 0 },
  };
}

/** A kept answer as if it were just coming in; `Event` is what the plan's kind of request is answered with. */
export function replay<Event extends CanonicalEvent | WorkEvent<unknown>>(
  { routes: [route] }: Plan<RoutableRequest>,
  { droppedParams, events }: CachedAnswer,
): OpenedAnswer<Event> {
  const named: RouteEvent = { type: 'route', route, droppedParams };
  return new OpenedAnswer<Event>(() =>
    Promise.resolve({
      held: [named, ...events] as unknown as Event[],
      rest: nothing(),
      complete: () => undefined,
      describe: (failure) => failure,
    }),
  );
}

/** A kept answer is all there from the beginning. */
function nothing(): AsyncIterator<never, undefined> {
  return { next: () => Promise.resolve({ done: true, value: undefined }) };
}
