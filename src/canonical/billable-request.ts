import type { RequestOptions } from './request-options.js';
import type { CallerGoneSignal } from './cancel-signal.js';
import type { TrafficMode, BillableRoute } from './billable-route.js';
import type { LimitedSubject } from './limits.js';
import type { Usage, UsageSource } from './usage.js';
import type { CanonicalEvent, WorkEvent } from './canonical-event.js';
import type { RequestTags } from './request-tags.js';

/** The ledger's view of a planned request, whatever its endpoint. */
export interface BillableRequest extends VendorHandle {
  /** The `x-request-id`; also the id of the request's hold and settlement. */
  readonly requestId: string;
  /** Logged kind of call: `chat`, `messages`, `responses`, `embeddings`, … */
  readonly endpoint: string;
  readonly streamed: boolean;
  readonly startedAt: Date;
  /** The routes to try, in order; at least one. */
  readonly routes: readonly [BillableRoute, ...BillableRoute[]];
  /** Assumed input usage when the vendor reports none. */
  readonly estimate: Usage;
  /** Aborted when the caller disconnects. */
  readonly callerGone: CallerGoneSignal;
  /**
   * Code points of the answer that the vendor sent and the gateway withheld from the caller. Counted
   * in the estimate when the vendor reports no usage.
   */
  readonly withheldCharacters?: number;
  /** The limits that the request counts against; undefined when none apply. */
  readonly limits?: readonly LimitedSubject[] | undefined;
  /** True when a guardrail flagged the request; logged. */
  readonly isFlagged?: boolean;
  /** The caller's identifier for its own end user. */
  readonly endUser?: string | undefined;
  readonly tags?: RequestTags | undefined;
  /** Request options beyond the model, for the log; undefined when there are none. */
  readonly requestOptions?: RequestOptions | undefined;
  /** Outcomes of the routes tried so far, in order; the last one may still be running. */
  readonly attempts?: readonly BillableAttempt[];
  /** Notified of the request's progress and end. */
  readonly observer?: RequestObserver | undefined;
  /**
   * The route that resumed an interrupted answer, when it costs more than the original. The whole
   * answer is then charged at its prices.
   */
  readonly billingRoute?: BillableRoute | undefined;
  /** True once a request has been sent to a vendor; callers who disconnect earlier pay nothing. */
  readonly upstreamCalled: boolean;
}

/** One call to a vendor and its outcome. */
export interface BillableAttempt {
  readonly route: BillableRoute;
  readonly startedAt: Date;
  /** Milliseconds to the first content or the failure; 0 while running. */
  readonly durationMs: number;
  /** `answered`, `pending`, `unjoined` (could not resume the answer), `outpaced` (superseded by a faster route), `uncovered` (never called), `aborted`, or a failure. */
  readonly outcome: string;
  /** The vendor's HTTP status on failures, when there was one. */
  readonly status?: number | undefined;
  /**
   * Usage reported by an attempt that failed before its first content. For an answer resumed across
   * routes, each attempt's share, so that none is counted twice.
   */
  readonly usage?: Usage | undefined;
  /** Where it resumes an interrupted answer, in code points of the text. */
  readonly continuesAt?: number;
  /** True for a hedge: called while an earlier route was silent. */
  readonly isHedge?: boolean;
  /** True for the leg of a hedged pair that the caller does not pay for. */
  readonly isUnbilled?: boolean;
}

/** Returns the attempt that answers or is running (of a hedged pair, the charged one), else the last. */
export function latestOf<Attempt extends Pick<BillableAttempt, 'isUnbilled'>>(
  attempts: readonly Attempt[],
): Attempt | undefined {
  const last = attempts.at(-1);
  return last?.isUnbilled ? attempts.findLast(({ isUnbilled }) => !isUnbilled) : last;
}

/** The ledger's access to the vendor call of a request. */
export interface VendorHandle {
  /** The latest vendor call; undefined before the first. */
  readonly vendorWork: VendorWork | undefined;
  /** Lets the running answer finish for a disconnected caller and prevents further vendor calls. */
  endVendorCalls(): void;
  /** Closes the vendor connection at once. The answer then ends by throwing. */
  closeVendor(): void;
  /** Records the vendor's own count of a completed answer. */
  noteOutput(usage: Usage): void;
  /** Records that the answer is over, however it ended; `used` is the logged usage. */
  noteEnd?(used: Usage): void;
}

/** Facts about a vendor call besides its events. */
export interface VendorWork {
  readonly startedAt: Date;
  /** The route's measured speed per choice; undefined when it has none yet. */
  readonly tokensPerSecond: number | undefined;
}

/** How a request ended, once its charge is final. */
export interface RequestEnding {
  /** `completed`, `failed`, `cancelled` or `refused`. */
  readonly outcome: string;
  /** The alias that answered, or the first requested one when none did. */
  readonly model: string;
  readonly provider: string;
  /** The error body's `type` on failures. */
  readonly errorType: string | null;
  readonly trafficMode: TrafficMode;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly flagged: boolean;
  /** Credits charged. */
  readonly cost: number;
  /** Milliseconds from the request's arrival to its first content; undefined when there was none. */
  readonly firstContentMs: number | undefined;
  /** Defaults to now. */
  readonly endedAt?: Date;
}

/** A guardrail that matched a request or its answer. */
export interface TriggeredGuardrail {
  readonly guardrailId: string;
  readonly action: string;
  readonly direction: string;
}

/** Follows one request, for example to write a trace. Must not throw. */
export interface RequestObserver {
  /** Receives each event of the answer, as the ledger sees it. */
  observe(event: CanonicalEvent | WorkEvent<unknown>): void;
  guardrailTriggered(triggered: TriggeredGuardrail): void;
  /** Called once, when the request is settled or refused; its answer may still be in transit. */
  ended(ending: RequestEnding): void;
  /** Called instead of `ended` when an internal error leaves the request without an ending. */
  lost?(): void;
}
