import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { AnswersService } from '../../../core/answers/answers.service.js';
import type { MakeRecord } from '../../../core/ledger/ledger-operations.js';
import { LedgerService } from '../../../core/ledger/ledger.service.js';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { DueWork } from '../../../platform/database/due-work.js';
import {
  DatabaseUnavailableError,
  GatewayError,
  ProviderError,
} from '../../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../../platform/http/body-budget.js';
import { parseJsonBody } from '../../../platform/http/json-body.js';
import { WorkQueue } from '../../../platform/queue/work-queue.js';
import { ServiceStop } from '../../../platform/time/service-stop.js';
import { SweepTimer } from '../../../platform/time/sweep-timer.js';
import { endsWithin } from '../../../platform/time/within.js';
import { ResponseAnswer } from '../response-answer.js';
import { toResponseError } from '../response-object.js';
import { checkResponsesBody, parseResponses } from '../responses.parse.js';
import { foldResponse, textOfInput } from '../responses.service.js';
import { storedResponseRecord } from '../stored-turn.js';
import {
  ARE_LOST,
  BackgroundResponsesRepository,
  type BackgroundClaim,
} from './background-responses.repository.js';
import { BackgroundResponses } from './background-responses.service.js';
import { BackgroundRun, callOf } from './background-run.js';

/** Concurrent responses of this process. */
const MAX_AT_ONCE = 100;
/** Concurrent responses per tenant, for fairness. */
const MAX_PER_TENANT = 20;
/** Delay when memory for the body is not available. */
const ROOM_PAUSE_MS = 1_000;
/** The raw body and its parsed form are in memory at the same time. */
const BYTES_PER_CHARACTER = 4;
const RENEW_EVERY_MS = 2_000;
const SWEPT_AT_ONCE = 200;
/** Starts before a response fails whose worker keeps dying. */
const MAX_ATTEMPTS = 3;
/** Pause after an internal failure. */
const FAILURE_PAUSE_MS = 1_000;

/** A separate wake-up, since the current one ends with this instance. */
const HANDED_ON = { delayMs: 50 };

/** Generates background responses, each by one worker at a time. */
@Injectable()
export class BackgroundWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(BackgroundWorker.name);
  private readonly running = new Map<string, BackgroundRun>();
  /** By tenant. Counted before the claim, so that simultaneous wake-ups don't share a slot. */
  private readonly placesTaken = new Map<string, number>();
  private readonly timer = new SweepTimer(
    () => this.sweep(),
    (error) => this.logger.warn(`background response sweep failed: ${error.message}`),
  );
  private isStopping = false;

  constructor(
    private readonly queue: WorkQueue,
    private readonly dueWork: DueWork,
    private readonly repository: BackgroundResponsesRepository,
    private readonly responses: BackgroundResponses,
    private readonly answers: AnswersService,
    private readonly ledger: LedgerService,
    private readonly bodies: BodyBudget,
    private readonly stop: ServiceStop,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.queue.consume) return;
    this.dueWork.watch(ARE_LOST, this.timer);
    this.responses.onCancel = (id) => this.running.get(id)?.cancel();
    await this.queue.consume('responses', (id) => this.work(id), {
      concurrency: MAX_AT_ONCE,
      onStop: () => (this.isStopping = true),
    });
  }

  /** Waits for running responses up to the drain limit. Another instance restarts the rest. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.timer.stop();
    const runs = [...this.running.values()];
    await endsWithin(this.stop.leftMs, Promise.allSettled(runs.map(({ ended }) => ended)));
    await Promise.all(runs.map((run) => this.leave(run)));
  }

  /** Generates and settles a response, unless another worker has it. */
  async work(id: string): Promise<void> {
    if (this.isStopping) return;
    const tenantId = await this.repository.findTenant(id);
    if (tenantId === undefined) return;
    // It is woken when one of the tenant's responses ends.
    const places = this.placesTaken.get(tenantId) ?? 0;
    if (places >= MAX_PER_TENANT) return;
    this.placesTaken.set(tenantId, places + 1);
    try {
      const claim = await this.repository.claim(id);
      if (claim) await this.workOn(claim);
    } finally {
      this.leavePlace(tenantId);
    }
    if (!this.isStopping) await this.wakeNext(tenantId);
  }

  private async workOn(claim: BackgroundClaim): Promise<void> {
    const { id, caller } = claim;
    const lease = this.bodies.shareOf(caller.tenantId).lease(undefined);
    try {
      lease.add(claim.body.length * BYTES_PER_CHARACTER);
    } catch {
      lease.release();
      return this.repository.release(claim, ROOM_PAUSE_MS, { isTry: false });
    }
    const run = new BackgroundRun(claim);
    if (claim.isCancelled) run.cancel();
    this.running.set(id, run);
    const renewal = setInterval(() => void this.renew(run), RENEW_EVERY_MS);
    renewal.unref();
    try {
      run.ended = this.answer(run);
      await Promise.race([run.ended, run.left]);
    } catch (error) {
      this.logger.error(error);
      const again = { isTry: true };
      await this.repository.release(claim, FAILURE_PAUSE_MS, again).catch(() => undefined);
    } finally {
      lease.release();
      clearInterval(renewal);
      this.running.delete(id);
    }
  }

  private leavePlace(tenantId: string): void {
    const left = this.placesTaken.get(tenantId)! - 1;
    if (left > 0) this.placesTaken.set(tenantId, left);
    else this.placesTaken.delete(tenantId);
  }

  /** The sweep catches wake-ups that fail here. */
  private async wakeNext(tenantId: string): Promise<void> {
    try {
      const next = await this.repository.findNext(tenantId);
      if (next !== undefined) await this.queue.wake('responses', next);
    } catch (error) {
      this.logger.warn(`waiting response left to the sweep: ${String(error)}`);
    }
  }

  private async answer(run: BackgroundRun): Promise<void> {
    const { claim } = run;
    const { context, id, isFlagged, credits } = claim;
    const body = parseJsonBody(Buffer.from(claim.body), { maxParts: Infinity });
    checkResponsesBody(body);
    const parsed = parseResponses(body, { answerId: id, ...context });
    const request = { ...parsed, answerId: id, stream: false };
    const createdAt = Math.floor(claim.createdAt.getTime() / 1000);
    const response = new ResponseAnswer({ request, createdAt });
    const turn = {
      id,
      tenantId: claim.caller.tenantId,
      requestId: claim.requestId,
      createdAt: claim.createdAt,
      ...context,
      input: textOfInput(body),
      isStored: true,
      isBackground: true,
    };
    const record: MakeRecord = ({ outcome, usage, failure }) => {
      const answer =
        outcome === 'completed'
          ? response.snapshot(usage)
          : outcome === 'cancelled'
            ? response.cancelledSnapshot(usage)
            : response.failedSnapshot(toResponseError(failure));
      return { ...storedResponseRecord({ ...turn, answer }), required: true };
    };
    const isLastStraw = claim.attempts > MAX_ATTEMPTS;
    try {
      const accepted = { credits, isFlagged };
      const { events } = await this.answers.resume(
        callOf(run),
        'responses',
        request,
        accepted,
        (given, plan) => {
          run.closeVendor = () => plan.closeVendor();
          return run.pass(isLastStraw ? failing() : given);
        },
        record,
      );
      await foldResponse(response, events).catch((error: unknown) => {
        // Already settled, and the response contains the failure.
        if (!(error instanceof GatewayError) && !run.isCancelled) this.logger.error(error);
      });
    } catch (error) {
      if (!(error instanceof GatewayError) || error instanceof DatabaseUnavailableError)
        throw error;
      // The model was removed or the credits are insufficient, so there is nothing to settle.
      await this.ledger.releaseTransferred(claim.requestId, claim.caller.tenantId);
      const { model, response: failed } = response.failedSnapshot(toResponseError(error));
      await this.repository.giveUp(claim, { model, input: turn.input, response: failed });
    }
  }

  /** A database outage says nothing about the response. */
  private async renew(run: BackgroundRun): Promise<void> {
    const lease = await this.repository.renew(run.claim).catch(() => ({ isCancelled: false }));
    if (!lease) run.leave();
    else if (lease.isCancelled) run.cancel();
  }

  private async leave(run: BackgroundRun): Promise<void> {
    if (!this.running.has(run.claim.id)) return;
    run.leave();
    await this.repository
      .release(run.claim, 0, { isTry: false })
      .then(() => this.queue.wake('responses', run.claim.id, HANDED_ON))
      .catch(() => undefined);
  }

  private async sweep(): Promise<void> {
    const { waiting } = (await this.queue.depths()).responses;
    const room = Math.max(0, SWEPT_AT_ONCE - waiting);
    for (const id of await this.repository.takeLost(room)) {
      await this.queue.wake('responses', id);
    }
  }
}

// eslint-disable-next-line require-yield
async function* failing(): AsyncGenerator<CanonicalEvent> {
  throw new ProviderError('The response was started several times and interrupted each time.');
}
