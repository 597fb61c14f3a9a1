import type { RecordedTrace } from './recorded-trace.js';
import type { TraceContext } from './trace-context.js';

/** Who asks for a trace. */
export interface TraceSubject {
  readonly tenantId: string;
  /** Whether the request asked for its trace to be sent to the tenant's destinations. */
  readonly isBroadcast: boolean;
  /** Where it stands; the same at each call. */
  readonly context: () => TraceContext;
}

/** How much a sink wants to know: nothing, all but the texts, or the texts as well. */
export type TraceInterest = 'none' | 'figures' | 'content';

/** Takes the traces of finished requests. Neither method may throw, wait or take long. */
export interface TraceSink {
  /** Asked as a request begins. */
  interestIn(subject: TraceSubject): TraceInterest;
  /** Called when the answer has left. */
  accept(trace: RecordedTrace): void;
}
