import type { LeftOutReason, LeftOutRoute } from './plan.js';

/**
 * Records the routes that a selection step removed.
 *
 * @param notes undefined when no one needs them
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
