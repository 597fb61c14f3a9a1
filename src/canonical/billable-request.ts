import type { RequestOptions } from './request-options.js';
import type { CallerGoneSignal } from './cancel-signal.js';
import type { TrafficMode, BillableRoute } from './billable-route.js';
import type { LimitedSubject } from './limits.js';
import type { Usage, UsageSource } from './usage.js';
import type { CanonicalEvent, WorkEvent } from './canonical-event.js';
import type { RequestTags } from './request-tags.js';

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
  /** Whose limits it counts on; absent: nobody's. */
  readonly limits?: readonly LimitedSubject[] | undefined;
  /** Whether a guardrail has marked the request, for its log row. */
  readonly isFlagged?: boolean;
  /** The caller's name for its own end user, where it gave one. */
  readonly endUser?: string | undefined;
  readonly tags?: RequestTags | undefined;
  /** What the caller asked for beyond a model, for the log; undefined: nothing. */
  readonly asked?: RequestOptions | undefined;
  /** What became of the routes that were tried, in order; the last one may still be at work. */
  readonly attempts?: readonly BillableAttempt[];
  /** Is told of the request's end, if anybody follows it. */
  readonly observer?: RequestObserver | undefined;
  /**
   * A route that has gone on with an answer which broke off, where it costs more than the one that began: what the
   * answer is charged by. Else the one that began.
   */
  readonly dearerPart?: BillableRoute | undefined;
  /** True once a request has left for a vendor; a caller who leaves before that pays nothing. */
  readonly upstreamCalled: boolean;
}

/** What became of one call to a vendor. */
export interface BillableAttempt {
  readonly route: BillableRoute;
  readonly startedAt: Date;
  /** To the first content, or to the failure; 0 while it is at work. */
  readonly durationMs: number;
  /** `answered`, `pending`, `unjoined` (did not go on with the answer), `outpaced` (another was faster), `uncovered` (never called), `aborted`, or a failure. */
  readonly outcome: string;
  /** The vendor's HTTP status, where a failure had one. */
  readonly status?: number | undefined;
  /**
   * What the vendor reported of an attempt that failed before its first content; of one answer in parts
   * what each took, so that none takes what the answer is billed by.
   */
  readonly usage?: Usage | undefined;
  /** Where it goes on with an answer that broke off, in code points of its text. */
  readonly continuesAt?: number;
  /** Asked beside a route that was silent. */
  readonly isHedge?: boolean;
  /** Of two that were asked at once, the one whose answer is not what the caller pays for. */
  readonly isSpare?: boolean;
}

/** The attempt that answers or is at work, of two at once the one that the caller pays for; else the last. */
export function latestOf<Attempt extends Pick<BillableAttempt, 'isSpare'>>(
  attempts: readonly Attempt[],
): Attempt | undefined {
  const last = attempts.at(-1);
  return last?.isSpare ? attempts.findLast(({ isSpare }) => !isSpare) : last;
}

/** What the ledger may ask and tell the vendor's side of a request. */
export interface VendorHandle {
  /** The vendor that was called last; undefined before any was. */
  readonly vendorWork: VendorWork | undefined;
  /** Lets the vendor's answer go on for a caller who left, while no other call begins. */
  endVendorCalls(): void;
  /** Closes the vendor's connection at once. The answer then ends by throwing. */
  closeVendor(): void;
  /** An answer has come to its end, with this by the vendor's own count. */
  noteOutput(usage: Usage): void;
  /** Nothing more comes, however it ended; `used` is what is in the log. */
  noteEnd?(used: Usage): void;
}

/** What is known of a vendor's work beside what it says. */
export interface VendorWork {
  readonly startedAt: Date;
  /** What the route has shown in answers before, of each where `n` asked for several; undefined where there were none. */
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
export interface RequestObserver {
  /** Each event of the answer, as the ledger sees it. */
  observe(event: CanonicalEvent | WorkEvent<unknown>): void;
  guardrailTriggered(triggered: TriggeredGuardrail): void;
  /** Once, when the request is settled or refused; its answer may still be on its way. */
  ended(ending: RequestEnding): void;
  /** Instead of its end, when there is none to tell of, for a fault of ours. */
  lost?(): void;
}
