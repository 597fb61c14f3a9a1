import { Injectable, Logger } from '@nestjs/common';
import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { AnswersService } from '../../../core/answers/answers.service.js';
import type { MakeRecord } from '../../../core/ledger/ledger-operations.js';
import { LedgerService } from '../../../core/ledger/ledger.service.js';
import {
  DatabaseUnavailableError,
  GatewayError,
  ProviderError,
} from '../../../platform/errors/gateway-errors.js';
import { BodyBudget } from '../../../platform/http/body-budget.js';
import { parseJsonBody } from '../../../platform/http/json-body.js';
import type { Lease } from '../../../platform/durable-work/lease.js';
import { WorkEngine } from '../../../platform/durable-work/work-engine.js';
import type {
  RunOutcome,
  WorkDepth,
  WorkHandler,
  WorkPolicy,
} from '../../../platform/durable-work/work-handler.js';
import type { Place } from '../../../platform/durable-work/work-slots.js';
import { ResponseAnswer } from '../response-answer.js';
import { toResponseError } from '../response-object.js';
import { checkResponsesBody, parseResponses } from '../responses.parse.js';
import { foldResponse, textOfInput } from '../responses.service.js';
import { storedResponseRecord } from '../stored-turn.js';
import {
  BackgroundResponsesRepository,
  type BackgroundClaim,
} from './background-responses.repository.js';
import { BackgroundResponses } from './background-responses.service.js';
import { BackgroundRun, callOf } from './background-run.js';

/** Each tenant is a group, for fairness. */
const WORK: WorkPolicy = {
  topic: 'responses',
  slots: { perGroup: 20, atOnce: 100, waiting: 100 },
  renewEveryMs: 2_000,
  failurePauseMs: 1_000,
  stops: 'with-drain',
  isRepeatable: true,
};
/** Delay when memory for the body is not available. */
const ROOM_PAUSE_MS = 1_000;
/** The raw body and its parsed form are in memory at the same time. */
const BYTES_PER_CHARACTER = 4;
/** Starts before a response fails whose worker keeps dying. */
const MAX_ATTEMPTS = 3;

/** Generates background responses. */
@Injectable()
export class BackgroundWorker implements WorkHandler<BackgroundClaim> {
  readonly areLost: string;
  private readonly logger = new Logger(BackgroundWorker.name);
  private readonly running = new Map<string, BackgroundRun>();

  constructor(
    private readonly repository: BackgroundResponsesRepository,
    private readonly answers: AnswersService,
    private readonly ledger: LedgerService,
    private readonly bodies: BodyBudget,
    responses: BackgroundResponses,
    engine: WorkEngine,
  ) {
    this.areLost = repository.areLost;
    responses.onCancel = (id) => this.running.get(id)?.cancel();
    engine.register(BackgroundWorker.name, this, WORK);
  }

  async place(id: string): Promise<Place | undefined> {
    const tenantId = await this.repository.findTenant(id);
    return tenantId === undefined ? undefined : { group: tenantId, mayHaveMore: true };
  }

  claim(id: string): Promise<BackgroundClaim | undefined> {
    return this.repository.claim(id);
  }

  async renew(claim: BackgroundClaim): Promise<boolean> {
    const renewed = await this.repository.renew(claim);
    if (renewed?.isCancelled) this.running.get(claim.id)?.cancel();
    return renewed !== undefined;
  }

  /** Generates and settles a response. */
  async run(claim: BackgroundClaim, lease: Lease): Promise<RunOutcome> {
    const { id, caller } = claim;
    const memory = this.bodies.shareOf(caller.tenantId).lease(undefined);
    try {
      memory.add(claim.body.length * BYTES_PER_CHARACTER);
    } catch {
      memory.release();
      await this.repository.release([claim], ROOM_PAUSE_MS, false);
      return { afterMs: ROOM_PAUSE_MS };
    }
    const run = new BackgroundRun(claim);
    if (claim.isCancelled) run.cancel();
    lease.signal.addEventListener('abort', () => run.leave(), { once: true });
    this.running.set(id, run);
    try {
      await Promise.race([this.answer(run), run.left]);
      return {};
    } finally {
      memory.release();
      if (this.running.get(id) === run) this.running.delete(id);
    }
  }

  /** Nothing is settled for an interrupted run, so another instance starts it again. */
  release(claims: readonly BackgroundClaim[], delayMs: number, isTry: boolean): Promise<void> {
    return this.repository.release(claims, delayMs, isTry);
  }

  findDue(tenantId: string, limit: number): Promise<string[]> {
    return this.repository.findDue(tenantId, limit);
  }

  takeLost(limit: number): Promise<string[]> {
    return this.repository.takeLost(limit);
  }

  depth(): Promise<WorkDepth> {
    return this.repository.depth();
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
}

// eslint-disable-next-line require-yield
async function* failing(): AsyncGenerator<CanonicalEvent> {
  throw new ProviderError('The response was started several times and interrupted each time.');
}
