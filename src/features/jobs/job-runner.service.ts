import { Inject, Injectable, Logger } from '@nestjs/common';
import type { MediaRequest } from '../../canonical/work-request.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { ProviderError } from '../../platform/errors/gateway-errors.js';
import type { Lease } from '../../platform/durable-work/lease.js';
import type { PlannedRoute } from '../../core/routing/plan.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import {
  MediaFailedError,
  type MediaResult,
  type MediaProgress,
} from '../../vendors/media-work.js';
import { UpstreamError } from '../../vendors/upstream-error.js';
import { JobFollowUp } from './job-follow-up.service.js';
import { ArtifactTooLargeError } from './artifacts/artifact-store.js';
import { JobArtifacts } from './job-artifacts.service.js';
import { toMediaRequest } from './job-body.js';
import { JobClaims, type ClaimedJob, type JobClaim } from './job-claims.repository.js';
import { JobOutcomes } from './job-outcomes.service.js';
import { CREDENTIAL_GONE, UNKNOWN_OUTCOME, reasonOf } from './job-failure.js';
import { readRoutes, JobCredentials } from './job-routes.js';
import { JobDispatcher } from './job-dispatcher.service.js';

const GROWTH = 1.25;

const LONGEST_MS = 30_000;

const POLL_LIMIT_MS = 30_000;

/** Attempts to fetch a finished result, with doubling delays. */
const MAX_FETCHES = 6;

/** Delay before the next run; undefined when the job needs none. */
export type NextLook = { readonly afterMs: number } | undefined;

/** Runs the next step of a claimed job: submits or polls it. */
@Injectable()
export class JobRunner {
  private readonly logger = new Logger(JobRunner.name);

  constructor(
    private readonly claims: JobClaims,
    private readonly dispatcher: JobDispatcher,
    private readonly endings: JobOutcomes,
    private readonly followUp: JobFollowUp,
    private readonly artifacts: JobArtifacts,
    private readonly routing: RoutingService,
    private readonly credentials: JobCredentials,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  async run(claim: JobClaim, lease: Lease): Promise<NextLook> {
    const { job } = claim;
    if (job.isLate) {
      await this.endings.expire(job);
      return undefined;
    }
    if (job.step === 'submitting') {
      // The worker died while submitting, so the vendor's state is unknown.
      await this.endings.fail(job, UNKNOWN_OUTCOME);
      return undefined;
    }
    const request = toMediaRequest(job.modality, job.body);
    if (job.step === 'accepted') return this.poll(claim, lease, request);
    return this.submit(claim, lease, request);
  }

  private async submit(begun: JobClaim, lease: Lease, request: MediaRequest): Promise<NextLook> {
    const outcome = await this.dispatcher.dispatch(begun, lease, request);
    if (outcome.state === 'over') return undefined;
    if (outcome.state === 'later') return { afterMs: outcome.afterMs };
    const { claim, progress, route, routeIndex, sentAt: acceptedAt } = outcome;
    if (progress.state === 'running') {
      const afterMs = progress.pollAfterMs ?? this.config.jobs.pollMs;
      if (await this.claims.accepted(claim, progress.operation, afterMs)) return { afterMs };
      // The job ended while the vendor accepted it.
      await this.followUp.stop(claim.job.tenantId, route, progress.operation);
      return undefined;
    }
    const job = { ...claim.job, routeIndex, acceptedAt };
    try {
      await this.finish(job, route, request, progress);
    } catch (error) {
      // Only this answer contained the files, so there is nothing to fetch again.
      await this.giveUp(job, route, request, progress, error);
    }
    return undefined;
  }

  private async poll(claim: JobClaim, lease: Lease, request: MediaRequest): Promise<NextLook> {
    const { job } = claim;
    const route = await this.credentials.open(
      job.tenantId,
      readRoutes(job.routes)[job.routeIndex]!,
    );
    if (!route) {
      await this.endings.fail(job, CREDENTIAL_GONE);
      return undefined;
    }
    const operation = job.operation!;
    const patienceMs = nextPollMs(this.config.jobs.pollMs, job.polls);
    let made: MediaResult | undefined;
    try {
      const progress = await this.ask(route, operation, lease);
      if (progress.state === 'running') {
        const afterMs = progress.pollAfterMs ?? patienceMs;
        const isNoted = await this.claims.polled(claim, progress.operation, afterMs);
        return isNoted ? { afterMs } : undefined;
      }
      made = progress;
      await this.finish(job, route, request, made);
      return undefined;
    } catch (error) {
      if (error instanceof MediaFailedError) {
        await this.endings.fail(job, error);
        return undefined;
      }
      const isOurs = lease.signal.aborted;
      if (!isOurs) this.tell(job, route, error);
      if (isOurs || (!made && !isUnreadable(error))) {
        // A failed poll is not a result: the vendor keeps running the job.
        const isNoted = await this.claims.polled(claim, operation, patienceMs);
        return isNoted ? { afterMs: patienceMs } : undefined;
      }
      const isLast = error instanceof ArtifactTooLargeError || job.round + 1 >= MAX_FETCHES;
      if (made && isLast) {
        await this.giveUp(job, route, request, made, error);
        return undefined;
      }
      const afterMs = patienceMs * 2 ** job.round;
      return (await this.claims.fetchedInVain(claim, afterMs)) ? { afterMs } : undefined;
    }
  }

  private async ask(route: PlannedRoute, operation: string, lease: Lease): Promise<MediaProgress> {
    const upstream = this.routing.upstreamOf(route);
    if (!upstream?.pollMedia) throw new Error('its provider is not configured on this instance');
    const { upstreamModel } = route;
    const limits = { ...route.limits, firstByteMs: POLL_LIMIT_MS };
    return upstream.pollMedia({ operation, upstreamModel, limits, signal: lease.signal });
  }

  private async finish(
    job: ClaimedJob,
    route: PlannedRoute,
    request: MediaRequest,
    done: MediaResult,
  ): Promise<void> {
    const artifactIds = await this.artifacts.keep(job, done.files);
    // Some usage is measured while the files stream.
    const { usage = request.estimate } = done;
    const source = done.usage ? (done.usageSource ?? 'upstream') : 'estimated';
    const isOurs = await this.endings.succeed(job, { route, usage, source, artifactIds });
    if (!isOurs) await this.artifacts.discard(artifactIds);
  }

  /**
   * Fails a job whose result cannot be delivered. The tenant pays nothing, and the log records the
   * cost.
   */
  private async giveUp(
    job: ClaimedJob,
    route: PlannedRoute,
    request: MediaRequest,
    { usage = request.estimate }: MediaResult,
    error: unknown,
  ): Promise<void> {
    await this.endings.fail(job, brokenOff(error, route), { route, usage });
  }

  private tell({ id }: ClaimedJob, { provider }: PlannedRoute, error: unknown): void {
    this.logger.warn(`${provider} poll of ${id} failed: ${reasonOf(error)}`);
  }
}

function brokenOff(error: unknown, { provider }: PlannedRoute): unknown {
  const isTooLarge = error instanceof ArtifactTooLargeError;
  if (!isTooLarge && !(error instanceof UpstreamError)) return error;
  const what = isTooLarge ? 'is larger than the file limit' : 'could not be downloaded completely';
  return new ProviderError(`The result of ${provider} ${what}. Nothing was charged.`, {
    cause: error,
  });
}

/** An unreadable answer counts as a failed fetch, since it can be as large as the file. */
function isUnreadable(error: unknown): boolean {
  return error instanceof UpstreamError && error.failure === 'unreadable';
}

/** Returns the delay before the next poll, growing with the number of polls. */
export function nextPollMs(firstMs: number, polls: number): number {
  return Math.round(
    Math.min(firstMs * GROWTH ** Math.min(polls, 40), Math.max(firstMs, LONGEST_MS)),
  );
}
