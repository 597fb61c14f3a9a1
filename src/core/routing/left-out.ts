import type { LeftOutReason, LeftOutRoute } from './plan.js';

/**
 * Notes the routes that a step of the choice has left out.
 *
 * @param notes undefined: nobody asks, and nothing is looked at
 */
export function noteLeftOut<Route extends LeftOutRoute['route']>(
  notes: LeftOutRoute[] | undefined,
  before: readonly Route[],
  left: readonly Route[],
  reason: LeftOutReason,
): void {
  if (!notes || before.length === left.length) return;
  for (const route of before) if (!left.includes(route)) notes.push({ route, reason });
}
