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

/** Jobs take some seconds at least. */
const FULL_RETRY_SECONDS = 10;

/** Taking a job in: plan, guard, hold, and one row that goes on without this process. */
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

  /** @throws GatewayError when it is not taken in; nothing is held then */
  async create(call: Call, input: NewJobInput): Promise<CreatedJob> {
    const { parsed, endpoint } = input;
    const { caller, requestId, receivedAt, headers, head: response } = call;
    // The job goes on without its caller.
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
      this.logger.warn(`A wake-up is left to the sweep: ${error.message}`);
    });
    return submitted;
  }

  /** The job that the idempotency key stands for already. @throws ConflictError for another body */
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
        'This `Idempotency-Key` was used with another body. Use a new key for a new job.',
      );
    }
    return known?.id;
  }

  /**
   * Sets the credits aside and writes the row. Requests with the same idempotency key come one after
   * the other, so that only the first of them sets anything aside.
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
      // Of a refusal of our own it is sure that nothing was written.
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
        `At most ${maxOpenPerTenant} jobs of an account may be queued or in progress. Wait until some have ended, or cancel some.`,
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
   * Gives a hold back whose row was not written; a commit may have been, in spite of an error. Asks until the
   * database answers: of a process that ends before, the sweep gives it back.
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
        this.logger.warn(`A hold is in doubt: ${reasonOf(error)}`);
      }
    }
  }

  private droppedParams(route: PlannedRoute, request: MediaRequest): readonly string[] {
    const upstream = this.routing.upstreamOf(route);
    return upstream?.droppedMediaParams?.(request, route.upstreamModel) ?? [];
  }
}

/** What a job is made from. */
interface NewJobInput {
  readonly parsed: ParsedJob;
  readonly body: JsonBody;
  /** For the log: `jobs`, `videos` of that API, or `images` where the caller waits. */
  readonly endpoint: 'jobs' | 'videos' | 'images';
  readonly idempotencyKey?: string;
}

/** A job that was taken in, or was there already. */
interface CreatedJob {
  readonly id: string;
  /** Fields of the request that its first route has no place for. */
  readonly droppedParams: readonly string[];
}

/** Dearer fallbacks are set aside for now, as nobody can ask later; those that don't fit are left out. */
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
