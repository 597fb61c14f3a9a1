import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import type { Caller } from '../../core/access/caller.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { hasRoomForJob } from '../../core/answers/open-jobs.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { Database } from '../../platform/database/database.js';
import { ConflictError, RateLimitError } from '../../platform/errors/gateway-errors.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import type { Hold } from '../../core/ledger/hold.js';
import { maxCostOf } from '../../core/ledger/max-cost.js';
import { LedgerService } from '../../core/ledger/ledger.service.js';
import { WorkQueue } from '../../platform/queue/work-queue.js';
import type { Plan, PlannedRoute } from '../../core/routing/plan.js';
import { RoutingService } from '../../core/routing/routing.service.js';
import { readTags } from '../../canonical/request-tags.js';
import type { MediaRequest } from '../../canonical/work-request.js';
import { newJobId } from './job.js';
import { reasonOf } from './job-failure.js';
import { JobMetrics } from './job-metrics.js';
import { JobTraces } from './job-traces.service.js';
import { storeRoutes } from './job-routes.js';
import { JobsRepository } from './jobs.repository.js';
import type { ParsedJob } from './jobs.parse.js';

const DOUBT_PAUSE_MS = 500;

const MAX_DOUBT_PAUSE_MS = 30_000;

/** Jobs take at least a few seconds. */
const FULL_RETRY_SECONDS = 10;

/**
 * Creates jobs: plans routes, runs guardrails, reserves credits and writes a row that any process
 * can continue.
 */
@Injectable()
export class CreateJobService {
  private readonly logger = new Logger(CreateJobService.name);

  constructor(
    private readonly database: Database,
    private readonly routing: RoutingService,
    private readonly ledger: LedgerService,
    private readonly answers: AnswersService,
    private readonly repository: JobsRepository,
    private readonly queue: WorkQueue,
    private readonly metrics: JobMetrics,
    private readonly traces: JobTraces,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  /** @throws GatewayError when the job is rejected; nothing stays reserved */
  async create(call: Call, input: NewJobInput): Promise<CreatedJob> {
    const { parsed, endpoint } = input;
    const { caller, requestId, receivedAt, headers, head: response } = call;
    // The job outlives its caller.
    const callerGone = new AbortController().signal;
    const tags = readTags(headers, parsed.metadata);
    const costLimit = maxCostOf(parsed.request, headers);
    const context = { requestId, endpoint, receivedAt, callerGone, tags, costLimit };
    const plan = await this.routing.plan(caller, parsed.request, context);
    const known = await this.findKnown(this.database.pool, caller, input);
    if (known !== undefined) return { id: known, droppedParams: [] };
    const trace = this.traces.begin(caller, plan, { headers, response }, parsed.trace);
    const guard = await this.answers.guard(call);
    await guard.admitTexts(plan, parsed.texts, parsed.textField);

    const submitted = await this.takeIn(caller, plan, input, trace());
    this.queue.wake('jobs', submitted.id).catch((error: Error) => {
      this.logger.warn(`wake-up left to the sweep: ${error.message}`);
    });
    return submitted;
  }

  /**
   * Returns the job already created with this idempotency key.
   * @throws ConflictError for a different body
   */
  private async findKnown(
    client: Pool | PoolClient,
    { tenantId }: Caller,
    { idempotencyKey, body }: NewJobInput,
  ): Promise<string | undefined> {
    if (idempotencyKey === undefined) return undefined;
    const known = await this.repository.findByIdempotencyKey(client, tenantId, idempotencyKey);
    if (known && !known.bodyHash.equals(hashOf(body))) {
      throw new ConflictError(
        'idempotency-key',
        'This `Idempotency-Key` was used with a different body. Use a new key for a new job.',
      );
    }
    return known?.id;
  }

  /**
   * Reserves credits and writes the row. Requests with the same idempotency key run one at a time,
   * so only the first reserves.
   */
  private async takeIn(
    caller: Caller,
    plan: Plan<MediaRequest>,
    input: NewJobInput,
    trace: string | null,
  ): Promise<CreatedJob> {
    const { idempotencyKey } = input;
    const taken: { hold?: Hold } = {};
    if (idempotencyKey === undefined) taken.hold = await this.ledger.hold(caller, plan);
    try {
      const submitted = await this.database.transaction(async (client) => {
        if (idempotencyKey !== undefined) {
          await this.repository.lockIdempotencyKey(client, caller.tenantId, idempotencyKey);
          const known = await this.findKnown(client, caller, input);
          if (known !== undefined) return { id: known, droppedParams: [] };
          taken.hold = await this.ledger.hold(caller, plan);
        }
        return this.write(client, caller, plan, { ...input, trace }, taken.hold!);
      });
      if (taken.hold) this.ledger.holdTransferred(taken.hold);
      return submitted;
    } catch (error) {
      // Our own rejection guarantees that nothing was written.
      if (taken.hold && error instanceof RateLimitError) await this.ledger.release(taken.hold);
      else if (taken.hold) void this.giveBack(taken.hold);
      throw error;
    }
  }

  private async write(
    client: PoolClient,
    caller: Caller,
    plan: Plan<MediaRequest>,
    { parsed, body, idempotencyKey, trace }: NewJobInput & { trace: string | null },
    hold: Hold,
  ): Promise<CreatedJob> {
    const routes = await coverRoutes(hold, plan);
    const { deadlineSeconds, maxOpenPerTenant } = this.config.jobs;
    if (!(await hasRoomForJob(client, caller.tenantId, maxOpenPerTenant))) {
      throw new RateLimitError(
        'max_open_jobs',
        `An account can have at most ${maxOpenPerTenant} open jobs. Wait for some to finish, or cancel some.`,
        FULL_RETRY_SECONDS,
      );
    }
    const id = newJobId(parsed.modality);
    await this.repository.insert(client, {
      id,
      tenantId: caller.tenantId,
      apiKeyId: caller.apiKeyId,
      requestId: plan.requestId,
      endpoint: plan.endpoint,
      modality: parsed.modality,
      model: plan.request.models[0],
      body: JSON.stringify(plan.request.body.value),
      routes: storeRoutes(routes),
      metadata: parsed.metadata,
      webhookUrl: parsed.webhookUrl,
      isFlagged: plan.isFlagged,
      endUser: plan.endUser,
      tags: plan.tags,
      trace,
      idempotencyKey,
      bodyHash: hashOf(body),
      reservedCredits: hold.credits,
      createdAt: plan.startedAt,
      deadlineSeconds,
    });
    await this.ledger.transferHold(hold, client);
    this.metrics.submitted(parsed.modality, routes[0].provider);
    return { id, droppedParams: this.droppedParams(routes[0], plan.request) };
  }

  /**
   * Releases the hold of a row that was not written. The commit may have succeeded despite an
   * error, so it asks until the database answers. If the process dies first, the sweep releases
   * it.
   */
  private async giveBack(hold: Hold): Promise<void> {
    for (let pauseMs = DOUBT_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, MAX_DOUBT_PAUSE_MS)) {
      await pause(pauseMs, undefined, { ref: false });
      try {
        if (await this.repository.hasRequest(hold.request.requestId))
          this.ledger.holdTransferred(hold);
        else await this.ledger.release(hold);
        return;
      } catch (error) {
        this.logger.warn(`hold state unknown: ${reasonOf(error)}`);
      }
    }
  }

  private droppedParams(route: PlannedRoute, request: MediaRequest): readonly string[] {
    const upstream = this.routing.upstreamOf(route);
    return upstream?.droppedMediaParams?.(request, route.upstreamModel) ?? [];
  }
}

/** Input of a new job. */
interface NewJobInput {
  readonly parsed: ParsedJob;
  readonly body: JsonBody;
  /** Endpoint in the request log: `jobs`, `videos`, or `images` for synchronous requests. */
  readonly endpoint: 'jobs' | 'videos' | 'images';
  readonly idempotencyKey?: string;
}

/** A new job, or the existing one for its idempotency key. */
interface CreatedJob {
  readonly id: string;
  /** Request fields that the first route does not support. */
  readonly droppedParams: readonly string[];
}

/**
 * Reserves for expensive fallbacks up front, since the job cannot ask later. Drops fallbacks that
 * the credits don't cover.
 */
async function coverRoutes(
  hold: Hold,
  { routes: [first, ...others] }: Plan<MediaRequest>,
): Promise<[PlannedRoute, ...PlannedRoute[]]> {
  const covered: [PlannedRoute, ...PlannedRoute[]] = [first];
  for (const route of others) if (await hold.cover(route)) covered.push(route);
  return covered;
}

function hashOf({ bytes }: JsonBody): Buffer {
  return createHash('sha256').update(bytes).digest();
}
