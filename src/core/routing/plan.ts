import type { IncomingHttpHeaders } from 'node:http';
import type { RequestOptions } from '../../canonical/request-options.js';
import type { CacheLookup } from './cache/answer-cache.service.js';
import {
  latestOf,
  type BillableRequest,
  type VendorWork,
  type RequestObserver,
} from '../../canonical/billable-request.js';
import {
  Canceller,
  type CallerGoneSignal,
  type CancelSignal,
} from '../../canonical/cancel-signal.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { MaxCostMode, Recovery } from '../../canonical/routing-preferences.js';
import type { LimitedSubject } from '../../canonical/limits.js';
import { estimateTokens } from '../../canonical/prompt-size.js';
import type { RequestTags } from '../../canonical/request-tags.js';
import { NO_USAGE, type Usage } from '../../canonical/usage.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import type { ByokAccess } from '../credentials/byok-upstreams.service.js';
import type { UpstreamFailure } from '../../vendors/upstream-error.js';
import type { CallLimits } from '../../vendors/upstream.js';
import type { BillableRoute } from '../../canonical/billable-route.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import { Timestamp, msSince } from '../../platform/time/timestamp.js';
import type { AccountUse } from './pool/account-pools.js';
import type { PooledCall } from './pool/pool-member.js';

/** One route that a request may take, with all that calling it needs. */
export interface PlannedRoute extends BillableRoute {
  readonly upstreamModel: string;
  readonly limits: CallLimits;
  /** The tenant's own account, by which the vendor is called; undefined on shared capacity. */
  readonly byok?: ByokAccess;
  /** What it asks of its account, where that is one of a pool. */
  readonly pooled?: PooledCall;
}

/** Of attempts: a vendor has worked on them, be it for a caller who did not take it. */
const WORKED: ReadonlySet<RouteAttempt['outcome']> = new Set(['answered', 'slow_reader']);
/** … the same where the request had left for the vendor; before that there is nothing to work on. */
const WORKED_IF_SENT: ReadonlySet<RouteAttempt['outcome']> = new Set(['pending', 'aborted']);
/** Of an answer's time, what it may have waited for its reader and still tell how fast its route is. */
const MAX_LAG_SHARE = 0.1;

/** What became of one route, for the log and for traces. */
export interface RouteAttempt {
  readonly route: PlannedRoute;
  readonly startedAt: Date;
  /** When the request began to leave; undefined while a connection is made or media are fetched. */
  sentAt?: Date | undefined;
  durationMs: number;
  outcome:
    | 'pending'
    | 'answered'
    | 'outpaced'
    | 'unjoined'
    | 'uncovered'
    | 'aborted'
    | UpstreamFailure;
  /** The vendor's HTTP status, where a failure had one. */
  status?: number | undefined;
  /** What the vendor reported before it failed without any content, and of each part of one answer. */
  usage?: Usage | undefined;
  /** Where it goes on with an answer that broke off, in code points of its text; undefined: it began. */
  continuesAt?: number;
  /** Its part of its account's load, where that is one of a pool. */
  use?: AccountUse;
  /** Asked beside a route that was silent. */
  isHedge?: boolean;
  /** Of two that were asked at once, the one whose answer is not what the caller pays for. */
  isSpare?: boolean;
}

/** Where a request comes from, beside its body. */
export interface RequestContext {
  readonly requestId: string;
  readonly endpoint: string;
  readonly receivedAt: Date;
  readonly callerGone: CallerGoneSignal;
  readonly tags?: RequestTags | undefined;
  /** For how long the answer may be kept, if it may be a kept one; undefined: it is to be new. */
  readonly cacheTtlSeconds?: number;
  /** Whether another route may go on with an answer that breaks off; undefined: none. */
  readonly recovery?: Recovery | undefined;
  /** What the caller's header calls the conversation. */
  readonly sessionId?: string | undefined;
  /** Which routes may be taken by what they may cost; undefined: all. */
  readonly costLimit?: CostLimit | undefined;
  /** After how long without content a second route is to be asked; undefined: none. */
  readonly hedgeMs?: number | undefined;
  /** Is told which routes are left out; undefined: nobody asks. */
  readonly leftOut?: LeftOutRoute[] | undefined;
}

export const LEFT_OUT_REASONS = [
  ...(['not_configured', 'own_account', 'denied', 'preferences', 'paused', 'unpriced'] as const),
  ...(['max_price', 'max_cost', 'cooling', 'resting', 'no_fallbacks'] as const),
] as const;
/** Why a request does not take a route. */
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** A route that a request does not take; of one that was never planned its names only. */
export interface LeftOutRoute {
  readonly route: Pick<PlannedRoute, 'model' | 'provider'> & Partial<PlannedRoute>;
  readonly reason: LeftOutReason;
}

/** Decides by its possible cost whether a route may be taken; the ledger's `MaxCost` is one. */
export interface CostLimit {
  /** What it may cost at most. */
  readonly credits: number;
  readonly mode: MaxCostMode;
  /** An admitted route may have been given a shorter output. */
  admits(route: BillableRoute): boolean;
  /** What the caller is told when none was admitted. */
  refusal(): GatewayError;
}

/** The ordered routes that one request will try, and what became of them. */
export class Plan<Request extends RoutableRequest = CanonicalRequest> implements BillableRequest {
  readonly requestId: string;
  readonly endpoint: string;
  readonly startedAt: Date;
  readonly callerGone: CallerGoneSignal;
  readonly streamed: boolean;
  readonly endUser: string | undefined;
  readonly tags: RequestTags | undefined;
  readonly attempts: RouteAttempt[] = [];
  /** Both are the guardrails' to change. */
  isFlagged = false;
  withheldCharacters = 0;
  /** Set where the request is traced. */
  observer: RequestObserver | undefined;
  /** Where the speed of routes is remembered; set when routes are about to be tried. */
  speeds: RouteSpeeds | undefined;
  /** Where it is remembered which route has the conversation in its cache; undefined: it is of none. */
  conversation: ConversationRoutes | undefined;
  /** What the caller asked for beyond a model; undefined: nothing. */
  asked: RequestOptions | undefined;
  /** Where it is counted what answers used; set with `speeds`. */
  uses: RouteUses | undefined;
  dearerPart: PlannedRoute | undefined;
  private readonly vendorCanceller = new VendorCanceller(this.attempts);

  constructor(
    readonly request: Request,
    readonly routes: readonly [PlannedRoute, ...PlannedRoute[]],
    context: RequestContext,
    /** Undefined when the cache has no part in this request. */
    readonly cache?: CacheLookup,
    /** Whose limits it counts on; undefined: nobody's. */
    readonly limits?: readonly LimitedSubject[],
    /** Which routes may go on with an answer that breaks off; undefined: none. */
    readonly recovery?: Exclude<Recovery, 'off'>,
    /** After how long without content a second route is asked; undefined: none. */
    readonly hedgeMs?: number,
  ) {
    this.requestId = context.requestId;
    this.endpoint = context.endpoint;
    this.startedAt = context.receivedAt;
    this.callerGone = context.callerGone;
    this.streamed = request.stream;
    this.endUser = request.endUser;
    this.tags = context.tags;
  }

  get estimate(): Usage {
    // As the wider type: of a type parameter, the guard's other branch would lose its fields.
    const request: RoutableRequest = this.request;
    if (!isTextRequest(request)) return request.estimate;
    return { ...NO_USAGE, inputTokens: estimateTokens(request.promptSize.characters) };
  }

  /** True while a vendor works for this request, or has answered it. */
  get upstreamCalled(): boolean {
    const attempt = latestOf(this.attempts);
    if (!attempt) return false;
    const { outcome, sentAt } = attempt;
    return WORKED.has(outcome) || (sentAt !== undefined && WORKED_IF_SENT.has(outcome));
  }

  /** What vendors are called with: it fires later than `callerGone`, as the ledger says. */
  get vendorSignal(): CancelSignal {
    return this.vendorCanceller;
  }

  get vendorWork(): VendorWork | undefined {
    const attempt = latestOf(this.attempts);
    if (!attempt) return undefined;
    const { route, startedAt, sentAt = startedAt } = attempt;
    return { startedAt: sentAt, tokensPerSecond: this.speeds?.tokensPerSecond(route) };
  }

  endVendorCalls(): void {
    this.vendorCanceller.isEnding = true;
  }

  closeVendor(): void {
    this.vendorCanceller.abort();
  }

  noteOutput(usage: Usage): void {
    const attempt = latestOf(this.attempts);
    if (attempt?.outcome !== 'answered') return;
    const { route, startedAt, sentAt = startedAt } = attempt;
    const durationMs = msSince(sentAt);
    const { choices = 1 } = route.output ?? {};
    const { readerLagMs = 0 } = this.callerGone;
    // Or slow readers made a route look slow, and who leaves its answers paid less for what nobody saw.
    const isReadOn = readerLagMs <= durationMs * MAX_LAG_SHARE;
    if (isReadOn) this.speeds?.recordSpeed(route, usage.outputTokens / choices, durationMs);
    this.uses?.noteUsage(route, usage, durationMs);
  }

  noteEnd(used: Usage): void {
    for (const { use } of this.attempts) use?.end(isNothing(used) ? undefined : used);
  }
}

function isNothing({ inputTokens, outputTokens }: Usage): boolean {
  return inputTokens + outputTokens === 0;
}

/**
 * Notes of the attempt that is under way when its request leaves, and what its vendor says of the account;
 * where there are two, each has a signal of its own.
 */
class VendorCanceller extends Canceller {
  constructor(private readonly attempts: readonly RouteAttempt[]) {
    super();
  }

  noteSent(): void {
    const attempt = this.attempts.at(-1);
    if (attempt) attempt.sentAt ??= new Timestamp();
  }

  noteHead(headers: IncomingHttpHeaders): void {
    this.attempts.at(-1)?.use?.heed(headers);
  }
}

/** How fast routes generate, as far as that has been seen; the memory of routes is one. */
export interface RouteSpeeds {
  /** Of one answer, also where several are written side by side; undefined before the first. */
  tokensPerSecond(route: PlannedRoute): number | undefined;
  /** Notes an answer of so many tokens, from its call to its end; of several the mean of them. */
  recordSpeed(route: PlannedRoute, tokens: number, durationMs: number): void;
}

/** Remembers where a conversation is. */
export interface ConversationRoutes {
  /** It is answered over this route. */
  note(route: PlannedRoute): void;
  /** Whether it was answered over this route last. */
  isAt(route: PlannedRoute): boolean;
}

/** What answers used by route; the tally of routes is one. */
export interface RouteUses {
  /** Notes an answer, with how long it took from its call to its end. */
  noteUsage(route: PlannedRoute, usage: Usage, durationMs: number): void;
}

/** Sets more credits aside before a dearer route is tried; the ledger's hold is one. */
export interface RouteCover {
  /** False when the tenant's credits do not reach for this route; it is skipped then. */
  cover(route: BillableRoute): Promise<boolean>;
}
