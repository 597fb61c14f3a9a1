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
import type { BillableRoute, CostFit } from '../../canonical/billable-route.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import { Timestamp, msSince } from '../../platform/time/timestamp.js';
import type { AccountUse } from './pool/account-pools.js';
import type { PooledCall } from './pool/pool-member.js';

/** A route that a request may take, with everything needed to call it. */
export interface PlannedRoute extends BillableRoute {
  readonly upstreamModel: string;
  readonly limits: CallLimits;
  /** The tenant's BYOK account; undefined for shared capacity. */
  readonly byok?: ByokAccess;
  /** Demand on a pooled account; undefined outside pools. */
  readonly pooled?: PooledCall;
}

/** Outcomes of attempts that made a vendor work, even if the caller did not take the answer. */
const WORKED: ReadonlySet<RouteAttempt['outcome']> = new Set(['answered', 'slow_reader']);
/** Outcomes that count as work only once the request was sent. */
const WORKED_IF_SENT: ReadonlySet<RouteAttempt['outcome']> = new Set(['pending', 'aborted']);
/**
 * Largest share of an answer's time spent waiting for its reader at which its speed still counts.
 */
const MAX_LAG_SHARE = 0.1;

/** The outcome of one call, for the log and for traces. */
export interface RouteAttempt {
  readonly route: PlannedRoute;
  readonly startedAt: Date;
  /** When sending began; undefined while connecting or fetching media. */
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
  /** The vendor's HTTP status, if the failure had one. */
  status?: number | undefined;
  /**
   * Usage that the vendor reported before failing without content, and of each part of a recovered
   * answer.
   */
  usage?: Usage | undefined;
  /**
   * Where a recovery attempt continues, in code points of the text; undefined for the first part.
   */
  continuesAt?: number;
  /** The call's share of its pooled account's load. */
  use?: AccountUse;
  /** Started because another route stayed silent. */
  isHedge?: boolean;
  /** The caller does not pay for this one of two concurrent calls. */
  isUnbilled?: boolean;
}

/** Context of a request besides its body. */
export interface RequestContext {
  readonly requestId: string;
  readonly endpoint: string;
  readonly receivedAt: Date;
  readonly callerGone: CallerGoneSignal;
  readonly tags?: RequestTags | undefined;
  /**
   * Longest age of a cached answer, and how long to cache a new one; undefined disables the cache.
   */
  readonly cacheTtlSeconds?: number;
  /** Which routes may recover an interrupted answer; undefined for none. */
  readonly recovery?: Recovery | undefined;
  /** The conversation id from the caller's header. */
  readonly sessionId?: string | undefined;
  /** Limits routes by their possible cost; undefined for no limit. */
  readonly costLimit?: CostLimit | undefined;
  /** Silence after which to call a second route, in ms; undefined to never. */
  readonly hedgeMs?: number | undefined;
  /** Collects the excluded routes; undefined when not needed. */
  readonly leftOut?: LeftOutRoute[] | undefined;
}

export const LEFT_OUT_REASONS = [
  ...(['not_configured', 'own_account', 'denied', 'preferences', 'paused', 'unpriced'] as const),
  ...(['max_price', 'max_cost', 'cooling', 'resting', 'no_fallbacks'] as const),
] as const;
/** Why a route is excluded. */
export type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** An excluded route; only names when it was never planned. */
export interface LeftOutRoute {
  readonly route: Pick<PlannedRoute, 'model' | 'provider'> & Partial<PlannedRoute>;
  readonly reason: LeftOutReason;
}

/** Limits routes by their possible cost; implemented by the ledger's `MaxCost`. */
export interface CostLimit {
  /** The most that the request may cost. */
  readonly credits: number;
  readonly mode: MaxCostMode;
  /** Returns the route's size within the limit; undefined when it could cost more. */
  fit(route: BillableRoute): CostFit | undefined;
  /** Builds the error for a request without an admitted route. */
  refusal(): GatewayError;
}

/** Holds the ordered routes of a request, and their outcomes. */
export class Plan<Request extends RoutableRequest = CanonicalRequest> implements BillableRequest {
  readonly requestId: string;
  readonly endpoint: string;
  readonly startedAt: Date;
  readonly callerGone: CallerGoneSignal;
  readonly streamed: boolean;
  readonly endUser: string | undefined;
  readonly tags: RequestTags | undefined;
  readonly attempts: RouteAttempt[] = [];
  /** Guardrails may change both. */
  isFlagged = false;
  withheldCharacters = 0;
  /** Set when the request is traced. */
  observer: RequestObserver | undefined;
  /** Set before routes are called. */
  speeds: RouteSpeeds | undefined;
  /** Tracks which route has the conversation in its cache; undefined outside conversations. */
  conversation: ConversationRoutes | undefined;
  /** Options of the request besides the model. */
  requestOptions: RequestOptions | undefined;
  /** Counts the usage of answers; set with `speeds`. */
  uses: RouteUses | undefined;
  billingRoute: PlannedRoute | undefined;
  private readonly vendorCanceller = new VendorCanceller(this.attempts);

  constructor(
    readonly request: Request,
    readonly routes: readonly [PlannedRoute, ...PlannedRoute[]],
    context: RequestContext,
    /** Undefined when the cache is not used. */
    readonly cache?: CacheLookup,
    /** Owners of the limits that the request counts against. */
    readonly limits?: readonly LimitedSubject[],
    /** Which routes may recover an interrupted answer; undefined for none. */
    readonly recovery?: Exclude<Recovery, 'off'>,
    /** Silence after which to call a second route, in ms; undefined to never. */
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
    // Widened, because the guard's other branch would lose the fields of a type parameter.
    const request: RoutableRequest = this.request;
    if (!isTextRequest(request)) return request.estimate;
    return { ...NO_USAGE, inputTokens: estimateTokens(request.promptSize.characters) };
  }

  /** True while a vendor works on this request, or has answered it. */
  get upstreamCalled(): boolean {
    const attempt = latestOf(this.attempts);
    if (!attempt) return false;
    const { outcome, sentAt } = attempt;
    return WORKED.has(outcome) || (sentAt !== undefined && WORKED_IF_SENT.has(outcome));
  }

  /**
   * Signal for vendor calls. Fires after `callerGone`, when the ledger decides to stop listening.
   */
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
    // Slow readers would make a route look slow, and disconnected callers would pay less for unseen
    // output.
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
 * Notes when the request of the current attempt is sent, and the vendor's rate-limit headers.
 * Concurrent calls have signals of their own.
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

/** Holds how fast routes generate. */
export interface RouteSpeeds {
  /**
   * Speed of a single answer, even when several are generated in parallel; undefined before the
   * first.
   */
  tokensPerSecond(route: PlannedRoute): number | undefined;
  /** Records an answer from its call to its end; for several answers, `tokens` is their mean. */
  recordSpeed(route: PlannedRoute, tokens: number, durationMs: number): void;
}

/** Tracks which route a conversation uses. */
export interface ConversationRoutes {
  /** Records that this route answers the conversation. */
  note(route: PlannedRoute): void;
  /** Returns whether this route answered last. */
  isAt(route: PlannedRoute): boolean;
}

/** Counts the usage of answers by route. */
export interface RouteUses {
  /** Records an answer, and its duration from call to end. */
  noteUsage(route: PlannedRoute, usage: Usage, durationMs: number): void;
}

/** Reserves more credits before a more expensive route is tried; implemented by the ledger's hold. */
export interface RouteCover {
  /** Returns false when the tenant's credits are insufficient; the route is skipped then. */
  cover(route: BillableRoute): Promise<boolean>;
}
