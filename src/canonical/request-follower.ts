import type { TrafficMode } from './billable-request.js';
import type { CanonicalEvent } from './canonical-event.js';
import type { Usage, UsageSource } from './usage.js';
import type { WorkEvent } from './work-event.js';

/** How a planned request came to its end, when its charge stands. */
export interface RequestEnding {
  /** `completed`, `failed`, `cancelled` or `refused`. */
  readonly outcome: string;
  /** The alias that answered, or the first one asked for when none did. */
  readonly model: string;
  readonly provider: string;
  /** The error body's `type`, on failures. */
  readonly errorType: string | null;
  readonly trafficMode: TrafficMode;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly flagged: boolean;
  /** Credits charged. */
  readonly cost: number;
  /** From the arrival of the request to its first content; undefined when none came. */
  readonly firstContentMs: number | undefined;
  /** When it was; now, unless told. */
  readonly endedAt?: Date;
}

/** A guardrail that matched a request or its answer. */
export interface TriggeredGuardrail {
  readonly guardrailId: string;
  readonly action: string;
  readonly direction: string;
}

/** Is told what happens to one request, by those who do it; a trace is one. Must not throw. */
export interface RequestFollower {
  /** Each event of the answer, as the ledger sees it. */
  observe(event: CanonicalEvent | WorkEvent<unknown>): void;
  guardrailTriggered(triggered: TriggeredGuardrail): void;
  /** Once, when the request is settled or refused; its answer may still be on its way. */
  ended(ending: RequestEnding): void;
}
