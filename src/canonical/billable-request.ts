import type { CallerGoneSignal } from './cancel-signal.js';
import type { ExactPricing } from './exact-pricing.js';
import type { OutputLimit } from './billable-route.js';
import type { Usage, UsageSource } from './usage.js';
import type { CanonicalEvent, WorkEvent } from './canonical-event.js';

/** How a route is billed: the operator's vendor account, or the tenant's own. */
export type TrafficMode = 'shared' | 'byok';

/** The most that a request can use on a route, whatever a vendor reports; without a figure, no bound. */
export interface UsageBounds {
  /** Of one reading of all prompts. */
  readonly inputTokens?: number;
  /** Of all choices together. */
  readonly outputTokens?: number;
  readonly videoSeconds?: number;
  /** What the gateway measured of the audio that was sent, in milliseconds. */
  readonly measuredAudioMs?: number | undefined;
}

/** What the ledger has to know of a route. */
export interface BillableRoute {
  /** The alias that this route answers for, which is also the answer's `model`. */
  readonly model: string;
  readonly provider: string;
  /** The catalogue row behind the alias; of a family's members that of the family. */
  readonly catalogueId: string;
  readonly pricing: ExactPricing;
  readonly trafficMode: TrafficMode;
  /** What is charged over the tenant's own account, in percent of the price; of `byok` routes only. */
  readonly byokFeePercent?: number;
  /**
   * The most that the request can use on this route; what a hold is computed from. Its output grows
   * from the least to what the hold turns out to pay for.
   */
  readonly ceiling: Usage;
  /** Of routes that generate text. */
  readonly output?: OutputLimit | undefined;
  /** What the vendor's figures are held against; undefined: they count as they are. */
  readonly bounds?: UsageBounds | undefined;
}

/** What the ledger has to know of a planned request, whichever endpoint it came in by. */
export interface BillableRequest extends VendorHandle {
  /** The `x-request-id`; also the id of its hold and of its settlement. */
  readonly requestId: string;
  /** The kind of call for the log: `chat`, `messages`, `responses`, `embeddings`, … */
  readonly endpoint: string;
  readonly streamed: boolean;
  readonly startedAt: Date;
  /** The routes that will be tried, in order; at least one. */
  readonly routes: readonly [BillableRoute, ...BillableRoute[]];
  /** What the input is taken to use where a vendor gives no usage. */
  readonly estimate: Usage;
  /** Aborted when the caller has gone away. */
  readonly callerGone: CallerGoneSignal;
  /**
   * Code points of the answer that came from the vendor and were kept from the caller, for the
   * estimate where a vendor gives no usage.
   */
  readonly withheldCharacters?: number;
  /** Whether a guardrail has marked the request, for its log row. */
  readonly isFlagged?: boolean;
  /** Is told of the request's end, if anybody follows it. */
  readonly follower?: RequestFollower | undefined;
  /** True once a request has left for a vendor; a caller who leaves before that pays nothing. */
  readonly upstreamCalled: boolean;
}

/** What the ledger may ask and tell the vendor's side of a request. */
export interface VendorHandle {
  /** The vendor that was called last; undefined before any was. */
  readonly vendorWork: VendorWork | undefined;
  /** Lets the vendor's answer go on for a caller who left, while no other call begins. */
  endVendorCalls(): void;
  /** Closes the vendor's connection at once. The answer then ends by throwing. */
  closeVendor(): void;
  /** An answer has come to its end, of so many tokens by the vendor's own count. */
  noteOutput(tokens: number): void;
}

/** What is known of a vendor's work beside what it says. */
export interface VendorWork {
  readonly startedAt: Date;
  /** What the route has shown in answers before; undefined where there were none. */
  readonly tokensPerSecond: number | undefined;
}

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
