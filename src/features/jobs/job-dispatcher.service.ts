import { Injectable, Logger } from '@nestjs/common';
import type { MediaRequest } from '../../canonical/work-request.js';
import {
  GatewayError,
  InternalError,
  ProviderError,
} from '../../platform/errors/gateway-errors.js';
import { callerErrorOf, type RouteFailure } from '../../core/routing/caller-error.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import type { Lease } from '../../platform/durable-work/lease.js';
import { Timestamp } from '../../platform/time/timestamp.js';
import { MediaFailedError, type MediaProgress } from '../../vendors/media-work.js';
import { UpstreamError, type UpstreamFailure } from '../../vendors/upstream-error.js';
import { JobClaims, type JobClaim } from './job-claims.repository.js';
import { JobOutcomes } from './job-outcomes.service.js';
import { CREDENTIAL_GONE, UNKNOWN_OUTCOME } from './job-failure.js';
import {
  JobCredentials,
  attemptOf,
  readRoutes,
  type OpenJobRoute,
  type StoredAttempt,
} from './job-routes.js';

/** Passes over all routes before an asynchronous job fails. */
const MAX_ROUNDS = 5;

const FIRST_PAUSE_MS = 1_000;

/** Failures that may be transient. */
const PASSING = new Set<UpstreamFailure>(['connect', 'rate_limited', 'server', 'timeout']);

const OVER: DispatchOutcome = { state: 'over' };

/**
 * Submits a job to its routes in order until one accepts it. Tries the next route only when the
 * previous has certainly not accepted the job, and records each attempt before calling the vendor,
 * so at most one vendor runs the job.
 */
@Injectable()
export class JobDispatcher {
  private readonly logger = new Logger(JobDispatcher.name);

  constructor(
    private readonly claims: JobClaims,
    private readonly endings: JobOutcomes,
    private readonly routing: RoutingService,
    private readonly credentials: JobCredentials,
  ) {}

  async dispatch(begun: JobClaim, lease: Lease, request: MediaRequest): Promise<DispatchOutcome> {
    let claim = begun;
    const routes = readRoutes(claim.job.routes);
    const failures: RouteFailure[] = [];
    for (let index = claim.job.routeIndex; index < routes.length; index++) {
      const route = await this.credentials.open(claim.job.tenantId, routes[index]!);
      if (!route) {
        if (!(await this.claims.refused(claim, index + 1))) return OVER;
        continue;
      }
      if (!(await this.claims.beginSubmission(claim, index, route.provider))) return OVER;
      const sentAt = new Timestamp();
      try {
        const progress = await this.send(claim.job.requestId, route, request, lease);
        claim = withAttempt(claim, attemptOf(route, sentAt));
        return { state: 'sent', claim, progress, route, routeIndex: index, sentAt };
      } catch (error) {
        if (lease.signal.aborted) return OVER;
        claim = withAttempt(claim, attemptOf(route, sentAt, error));
        const failure = this.asRefusal(error, route);
        if (!failure) return this.failed(claim, error);
        failures.push(failure);
        if (!failure.error.allowsFallback) return this.failed(claim, describe(failures, request));
        if (!(await this.claims.refused(claim, index + 1))) return OVER;
      }
    }
    const isGone = failures.length === 0 && routes.some(({ credentialId }) => credentialId);
    return isGone ? this.failed(claim, CREDENTIAL_GONE) : this.giveUp(claim, failures, request);
  }

  private send(
    requestId: string,
    route: PlannedRoute,
    request: MediaRequest,
    lease: Lease,
  ): Promise<MediaProgress> {
    const { model: alias, upstreamModel, limits } = route;
    const signal = request.kind === 'video' ? lease.leavingSignal : lease.signal;
    return this.routing.attempt(route, requestId, (upstream) =>
      upstream.submitMedia?.({ request, alias, upstreamModel, limits, signal }),
    );
  }

  /** Returns undefined when the vendor may have accepted the job despite the failure. */
  private asRefusal(error: unknown, route: PlannedRoute): RouteFailure | undefined {
    return error instanceof UpstreamError && error.accepted === 'no' ? { route, error } : undefined;
  }

  private async failed(claim: JobClaim, error: unknown): Promise<DispatchOutcome> {
    const isKnown = error instanceof GatewayError || error instanceof MediaFailedError;
    if (!isKnown && !(error instanceof UpstreamError)) this.logger.error(error);
    await this.endings.fail(claim.job, isKnown ? error : UNKNOWN_OUTCOME);
    return OVER;
  }

  private async giveUp(
    claim: JobClaim,
    failures: readonly RouteFailure[],
    request: MediaRequest,
  ): Promise<DispatchOutcome> {
    const { job } = claim;
    const passing = failures.filter(({ error }) => PASSING.has(error.failure));
    const mayPass = passing.length > 0 && job.endpoint !== 'images' && job.round + 1 < MAX_ROUNDS;
    if (mayPass) {
      const askedMs = Math.min(...passing.map(({ error }) => error.retryAfterMs ?? 0));
      const afterMs = Math.max(askedMs, FIRST_PAUSE_MS * 2 ** job.round);
      if (Date.now() + afterMs < job.deadlineAt.getTime()) {
        return (await this.claims.retryLater(claim, afterMs)) ? { state: 'later', afterMs } : OVER;
      }
    }
    return this.failed(claim, describe(failures, request));
  }
}

/** Result of a submission. `over`: the job has ended or was claimed by another worker. */
type DispatchOutcome =
  | { readonly state: 'over' }
  | { readonly state: 'later'; readonly afterMs: number }
  | ({ readonly state: 'sent' } & DispatchedJob);

/** A job that a vendor accepted. */
interface DispatchedJob {
  /** Includes this attempt. */
  readonly claim: JobClaim;
  readonly progress: MediaProgress;
  readonly route: OpenJobRoute;
  readonly routeIndex: number;
  readonly sentAt: Date;
}

/** The first failures are unknown when another worker started this pass. */
function describe(failures: readonly RouteFailure[], request: MediaRequest): Error {
  if (failures.length === 0) {
    return new ProviderError('No provider could take this job. Try again later.');
  }
  const described = callerErrorOf(failures, request);
  return described instanceof InternalError ? new ProviderError(described.message) : described;
}

/** Returns the claim with one more attempt, to be written with the next update. */
function withAttempt(claim: JobClaim, attempt: StoredAttempt): JobClaim {
  const { job } = claim;
  return { ...claim, job: { ...job, attempts: [...job.attempts, attempt] } };
}
