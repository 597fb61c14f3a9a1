import type { BillableRoute } from './billable-request.js';
import type { SettledEvent } from './canonical-event.js';
import type { WorkEvent } from './work-event.js';

/** A whole answer to work that is no text generation. */
export interface CollectedWork<Output> {
  route: BillableRoute;
  droppedParams: readonly string[];
  /** In order; at least one. */
  outputs: [Output, ...Output[]];
  settled: SettledEvent;
}

/** Folds an answer's events. @throws whatever the events throw */
export async function collectWork<Output>(
  events: AsyncIterable<WorkEvent<Output>>,
): Promise<CollectedWork<Output>> {
  const work: Partial<CollectedWork<Output>> = {};
  const outputs: Output[] = [];
  for await (const event of events) {
    if (event.type === 'route') {
      work.route = event.route;
      work.droppedParams = event.droppedParams;
    } else if (event.type === 'output') outputs.push(event.output);
    else if (event.type === 'settled') work.settled = event;
  }
  const { route, droppedParams = [], settled } = work;
  const [first, ...others] = outputs;
  if (!route || !settled || first === undefined) {
    throw new Error('work without its route, output or settlement');
  }
  return { route, droppedParams, outputs: [first, ...others], settled };
}
