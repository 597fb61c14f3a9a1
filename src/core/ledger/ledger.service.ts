import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Caller } from '../access/caller.js';
import type { BillableRequest, BillableRoute } from '../../canonical/billable-request.js';
import type { SettledEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE, type Usage, type UsageSource } from '../../canonical/usage.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import {
  AnswerWithheldError,
  GatewayError,
  InternalError,
} from '../../platform/errors/gateway-errors.js';
import { CoarseTimer, NOT_WATCHED, type Watched } from '../../platform/time/coarse-timer.js';
import { within } from '../../platform/time/within.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import type { RequestLogDraft } from './request-log/request-log-row.js';
import { billingNoteOf, draftLogRow } from './draft-log-row.js';
import { Hold, creditsFor, refusalOf } from './hold.js';
import type {
  Charge,
  SettleOutcome,
  MakeRecord,
  SettlementEnding,
  SettlementRecord,
} from './ledger-operations.js';
import type { LastingEnding, LastingWork } from './lasting-work.js';
import { LedgerStore } from './ledger-store.js';
import { LeftAnswers } from './left-answers.js';
import { capUsage } from './plausible-usage.js';
import { priceRoute, totalOf, splitCharge } from './pricing.js';
import { SettledAnswer, type AnswerEnding, type BilledEvent } from './settled-answer.js';
import { UsageMeter } from './usage-meter.js';

/** How long the end of an answer waits for its commit when the database is away. */
const MAX_COMMIT_WAIT_MS = 2_000;

/** How long a shutdown waits for the settlements of answers that have just ended. */
const DRAIN_LIMIT_MS = 5_000;

const NO_CHARGE: Charge = { modelCharge: 0, byokPlatformFee: 0, managedToolFee: 0 };

/** Sets credits aside before work starts, and charges exactly once when it ends. */
@Injectable()
export class LedgerService implements OnModuleDestroy {
  private readonly logger = new Logger(LedgerService.name);
  /** Holds that have not come to their settlement yet, and who waits for the last of them. */
  private openHolds = 0;
  private onLastSettled: (() => void) | undefined;
  /** One timer for all commits: a timer each costs more than the wait is worth. */
  private readonly waits = new CoarseTimer();

  constructor(
    private readonly store: LedgerStore,
    private readonly metrics: GatewayMetrics,
    private readonly leftAnswers: LeftAnswers,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {
    metrics.track(
      'gateway_ledger_pending_settlements',
      'Settlements and log rows that wait for their commit.',
      () => store.pendingSettlements,
    );
  }

  /**
   * Sets aside what the request can cost at most on its first route. Where its caller named no limit
   * on the output, the route's `output` and `ceiling` then say how far the credits reach.
   *
   * @throws InsufficientCreditsError when that does not fit, SpendLimitError when a monthly limit
   * does not leave so much; the refusal is logged at cost 0
   */
  async hold(caller: Caller, request: BillableRequest): Promise<Hold> {
    const [route] = request.routes;
    const { least: amount, range } = creditsFor(route);
    const startedMs = performance.now();
    const outcome = await this.store.hold({
      requestId: request.requestId,
      tenantId: caller.tenantId,
      apiKeyId: caller.apiKeyId,
      amount,
      ...(range && { range }),
      endpoint: request.endpoint,
      model: route.model,
      provider: route.provider,
      streamed: request.streamed,
      createdAt: request.startedAt,
      spendLimited: caller.spendLimits !== undefined,
    });
    this.metrics.observeHold(performance.now() - startedMs);
    if (outcome.admitted) {
      this.openHolds++;
      return new Hold(this.store, caller, request, outcome.granted ?? amount);
    }

    const refusal = refusalOf(amount, outcome, request);
    await this.refuse(caller, request, refusal);
    throw refusal;
  }

  /** Logs, at cost 0, that a planned request was refused before anything was set aside for it. */
  async refuse(caller: Caller, request: BillableRequest, refusal: GatewayError): Promise<void> {
    const meter = new UsageMeter(request);
    const row = draftLogRow(caller, request, meter, 'refused', refusal);
    await this.logged(this.store.record(row));
    this.observe(row, meter, 0, 0);
    follow(request, row, meter, 0);
  }

  /**
   * Passes an answer's events on and settles when it ends, however it ends: completed, failed, or
   * left by its caller. The last event, `settled`, comes after the commit.
   *
   * @param record makes what is written in the same transaction; it is asked once, at the end
   */
  settle<Event extends BilledEvent>(
    hold: Hold,
    events: AsyncIterable<Event>,
    record?: MakeRecord,
  ): SettledAnswer<Event> {
    const meter = new UsageMeter(hold.request);
    return new SettledAnswer(events, {
      observe: (event) => {
        meter.observe(event);
        hold.request.follower?.observe(event);
      },
      request: hold.request,
      beginGrace: () => this.leftAnswers.beginGrace(hold.request),
      close: (ending) => this.close(hold, meter, ending, record),
    });
  }

  /**
   * Hands a hold over to work that outlives this process, in the transaction that makes the work
   * known: from its commit on the hold ends by `end` alone, on any instance.
   *
   * @throws InternalError when the hold is gone
   */
  async entrust({ request: { requestId } }: Hold, client: PoolClient): Promise<void> {
    const { rowCount } = await client.query(
      'UPDATE holds SET instance_id = NULL WHERE request_id = $1',
      [requestId],
    );
    if (rowCount !== 1) throw new InternalError({ cause: new Error('the hold is gone') });
  }

  /** To be called once the transaction of `entrust` has committed. */
  entrusted(): void {
    this.forgetHold();
  }

  /** Gives a hold back, without a log row, for a request that turned out to be none. */
  async release({ request: { requestId }, caller }: Hold): Promise<void> {
    await this.store.release(requestId, caller.tenantId);
    this.forgetHold();
  }

  /**
   * Ends lasting work: its charge, its log row and its record, together and once, however many
   * instances try. Resolves after the commit, which may take as long as the database is away.
   *
   * @throws InternalError when it cannot be stored
   */
  async end(work: LastingWork, ending: LastingEnding): Promise<SettleOutcome> {
    const { route, outcome, record } = ending;
    const billed = ending.billed && this.plausible(work, route, ending.billed);
    const charge = billed ? priceRoute(billed.usage, route) : NO_CHARGE;
    const log: RequestLogDraft = {
      requestId: work.requestId,
      tenantId: work.tenantId,
      apiKeyId: work.apiKeyId,
      endpoint: work.endpoint,
      model: route.model,
      provider: route.provider,
      outcome,
      errorType: ending.errorType,
      finishReason: outcome === 'completed' ? 'stop' : null,
      trafficMode: route.trafficMode,
      usage: billed?.usage ?? NO_USAGE,
      usageSource: billed?.source ?? 'none',
      billingNote: billingNoteOf(route),
      streamed: false,
      flagged: work.isFlagged,
      latencyMs: Date.now() - work.startedAt.getTime(),
      generationTimeMs: ending.generationTimeMs,
      createdAt: work.startedAt,
    };
    const settled = await this.store.settle({ charge, log, record: { ...record, required: true } });
    if (settled.applied) {
      this.metrics.observeRequest({
        endpoint: log.endpoint,
        provider: log.provider,
        catalogueId: route.catalogueId,
        outcome,
        inputTokens: log.usage.inputTokens,
        outputTokens: log.usage.outputTokens,
        cost: settled.cost,
        shortfall: settled.shortfall,
        latencyMs: log.latencyMs,
        firstContentMs: undefined,
      });
    }
    return settled;
  }

  /** Waits, for a bounded time, until every hold is settled and every settlement committed. */
  async onModuleDestroy(): Promise<void> {
    this.leftAnswers.endGraces();
    const settled = new Promise<void>((resolve) => {
      this.onLastSettled = resolve;
      if (this.openHolds === 0) resolve();
    });
    const drained = settled.then(() => this.store.drain());
    await within(DRAIN_LIMIT_MS, drained, () => undefined);
  }

  private async close(
    hold: Hold,
    meter: UsageMeter,
    ending: AnswerEnding,
    makeRecord: MakeRecord | undefined,
  ): Promise<SettledEvent> {
    const { caller, request } = hold;
    const { failure } = ending;
    const outcome = outcomeOf(request, meter, ending);
    const log = draftLogRow(caller, request, meter, outcome, failure);
    let charge = NO_CHARGE;
    if (!isFree(request, meter, { ...ending, outcome })) {
      const isWhole = ending.isWhole || outcome === 'failed' || meter.isCounted;
      const read = isWhole ? meter.read() : await this.estimate(request, meter);
      const { usage, source } = this.plausible(log, meter.route, read);
      log.usage = usage;
      log.usageSource = source;
      charge = priceRoute(usage, meter.route);
      if (!isWhole) charge = splitCharge(charge, hold.credits).charge;
      else if (source === 'upstream' && ending.isWhole) request.noteOutput(usage.outputTokens);
    }
    const startedMs = performance.now();
    const record = makeRecord && this.recordOf(makeRecord, { outcome, usage: log.usage, failure });
    const commit = this.store.settle({ charge, log, record });
    this.forgetHold();
    const onCommit = () => this.metrics.observeSettle(performance.now() - startedMs);
    const committed = await this.logged(commit, record !== undefined, onCommit);
    const cost = committed?.cost ?? totalOf(charge);
    this.observe(log, meter, cost, committed?.shortfall ?? 0);
    follow(request, log, meter, cost);
    return {
      type: 'settled',
      cost,
      usage: log.usage,
      usageSource: log.usageSource,
      ...(makeRecord && { recorded: committed?.recorded ?? false }),
    };
  }

  /** The hold is to be settled, also when the estimate fails. */
  private async estimate(
    request: BillableRequest,
    meter: UsageMeter,
  ): Promise<{ usage: Usage; source: UsageSource }> {
    try {
      return { usage: await this.leftAnswers.estimate(request, meter), source: 'estimated' };
    } catch (error) {
      this.logger.error(`An answer could not be estimated: ${(error as Error).message}`);
      return { usage: meter.read().usage, source: 'estimated' };
    }
  }

  /** Usage within reason; the operator is told where a vendor's figures were beyond it. */
  private plausible(
    { requestId }: { readonly requestId: string },
    route: BillableRoute,
    read: { readonly usage: Usage; readonly source: UsageSource },
  ): { usage: Usage; source: UsageSource } {
    const capped = capUsage(read.usage, read.source, route);
    if (capped.cappedFields) {
      const { provider, catalogueId } = route;
      this.metrics.observeCappedUsage(provider, catalogueId);
      const changes = capped.cappedFields.map(
        (field) => `${field} ${read.usage[field]} is counted as ${capped.usage[field]}`,
      );
      this.logger.warn(
        `Usage beyond reason of ${provider} for request ${requestId}: ${changes.join(', ')}`,
      );
    }
    return capped;
  }

  /** A hold that this process answers for no longer. */
  private forgetHold(): void {
    this.openHolds--;
    if (this.openHolds === 0) this.onLastSettled?.();
  }

  /** A record that cannot be made must not keep the settlement back. */
  private recordOf(make: MakeRecord, ending: SettlementEnding): SettlementRecord | undefined {
    try {
      return make(ending);
    } catch (error) {
      this.logger.error(`A record could not be made: ${(error as Error).message}`);
      return undefined;
    }
  }

  private observe(
    log: RequestLogDraft,
    { route, firstContentMs }: UsageMeter,
    cost: number,
    shortfall: number,
  ): void {
    this.metrics.observeRequest({
      endpoint: log.endpoint,
      provider: log.provider,
      catalogueId: route.catalogueId,
      outcome: log.outcome,
      inputTokens: log.usage.inputTokens,
      outputTokens: log.usage.outputTokens,
      cost,
      shortfall,
      latencyMs: log.latencyMs,
      firstContentMs:
        firstContentMs === undefined ? undefined : log.latencyMs - log.generationTimeMs,
    });
  }

  /**
   * Waits for a commit as long as the setting allows; a failure is the operator's to know. What
   * the caller may ask for next is waited for in any case.
   *
   * @param onCommit called when the commit stands, be it after the wait
   * @returns undefined when it did not stand in time
   */
  private logged<Outcome extends SettleOutcome | void>(
    commit: Promise<Outcome>,
    hasRecord = false,
    onCommit?: () => void,
  ): Promise<Outcome | undefined> {
    return new Promise((resolve) => {
      const wait: Watched = {
        deadlineMs: performance.now() + MAX_COMMIT_WAIT_MS,
        watchIndex: NOT_WATCHED,
        onDeadline: () => resolve(undefined),
      };
      commit.then(
        (outcome) => {
          this.waits.unwatch(wait);
          onCommit?.();
          resolve(outcome);
        },
        (error: Error) => {
          this.waits.unwatch(wait);
          this.logger.error(`A settlement could not be written: ${error.message}`);
          resolve(undefined);
        },
      );
      if (this.config.settle === 'after-response' && !hasRecord) resolve(undefined);
      else this.waits.watch(wait);
    });
  }
}

/** Whether we ended an answer that still had a caller, and nothing of which has reached that caller. */
function isUndelivered({ streamed }: BillableRequest, { firstContentMs }: UsageMeter): boolean {
  return !streamed || firstContentMs === undefined;
}

/** An answer that our time limit ended before the caller had anything of it is one that failed. */
function outcomeOf(
  request: BillableRequest,
  meter: UsageMeter,
  { outcome }: AnswerEnding,
): AnswerEnding['outcome'] {
  return outcome === 'timeout' && isUndelivered(request, meter) ? 'failed' : outcome;
}

/** Who pays for what went wrong: only what a vendor made for a caller, by its own account, costs. */
function isFree(
  request: BillableRequest,
  meter: UsageMeter,
  { outcome, failure }: AnswerEnding,
): boolean {
  // An answer that was kept from its caller has been made all the same.
  if (outcome === 'failed') return !(failure instanceof AnswerWithheldError);
  if (outcome !== 'cancelled') return false;
  if (!request.upstreamCalled) return true;
  return request.callerGone.isServiceStop === true && isUndelivered(request, meter);
}

/** Tells who follows the request that it has ended. */
function follow(
  { follower }: BillableRequest,
  log: RequestLogDraft,
  { firstContentMs }: UsageMeter,
  cost: number,
): void {
  if (!follower) return;
  const waitedMs = log.latencyMs - log.generationTimeMs;
  follower.ended({
    outcome: log.outcome,
    model: log.model,
    provider: log.provider,
    errorType: log.errorType,
    trafficMode: log.trafficMode,
    usage: log.usage,
    usageSource: log.usageSource,
    flagged: log.flagged ?? false,
    cost,
    firstContentMs: firstContentMs === undefined ? undefined : waitedMs,
  });
}
