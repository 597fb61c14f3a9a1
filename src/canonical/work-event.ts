import type { RouteEvent, SettledEvent, StartEvent, UsageEvent } from './canonical-event.js';

/**
 * The internal form of an answer that is no generated text: vectors, audio, a transcript. It goes
 * through the same routing and the same settlement as a text answer.
 *
 * Order: `route`, `output` (one, or pieces as they come), `usage` anywhere (the last one counts),
 * and `settled` when the charge is committed. Work that fails ends by throwing.
 */
export type WorkEvent<Output> =
  RouteEvent | StartEvent | OutputEvent<Output> | UsageEvent | SettledEvent;

/** The answer, or a piece of it. Content: after it has been sent to the caller, there is no way back. */
export interface OutputEvent<Output> {
  type: 'output';
  output: Output;
}
