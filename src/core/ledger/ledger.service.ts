import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import type { PoolClient } from 'pg';
import type { Caller } from '../access/caller.js';
import { RequestRates } from '../access/request-rates.js';
import type { BillableRequest } from '../../canonical/billable-request.js';
import { heldSubjects } from '../../canonical/limits.js';
import type { SettledEvent } from '../../canonical/canonical-event.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import {
  InsufficientCreditsError,
  InternalError,
  RateLimitError,
  type GatewayError,
} from '../../platform/errors/gateway-errors.js';
import { endsWithin } from '../../platform/time/within.js';
import { GatewayMetrics } from '../../platform/metrics/gateway-metrics.js';
import { AnswerCharges, type AnswerCharge } from './answer-charges.js';
import { CommitWait } from './commit-wait.js';
import { Hold, creditsFor, refusalOf } from './hold.js';
import type { SettleOutcome, MakeRecord } from './ledger-operations.js';
import {
  draftLongRunningRow,
  type LongRunningEnding,
  type LongRunningWork,
} from './long-running-work.js';
import { LedgerStore } from './ledger-store.js';
import { recordOf } from './pending-records.js';
import { AbandonedAnswers } from './abandoned-answers.js';
import { PlausibleUsage } from './plausible-usage.js';
import { NO_CHARGE, priceRoute, totalOf } from './pricing.js';
import { draftLogRow, toObservedRequest, notifyObserver } from './draft-log-row.js';
import { SettledAnswer, type AnswerEnding, type BilledEvent } from './settled-answer.js';
import { UsageMeter } from './usage-meter.js';
import { noteAttempts, vendorCostOf } from './vendor-cost.js';

/** How long a shutdown waits for settlements of answers that just ended. */
const DRAIN_LIMIT_MS = 5_000;

/** Reserves credits before work starts, and charges exactly once when it ends. */
@Injectable()
export class LedgerService implements OnModuleDestroy {
  private readonly logger = new Logger(LedgerService.name);
  /** Unsettled holds, and the callback for when the last one is settled. */
  private openHolds = 0;
  private onLastSettled: (() => void) | undefined;
  private readonly commits: CommitWait;
  private readonly plausible: PlausibleUsage;
  private readonly charges: AnswerCharges;

  constructor(
    private readonly store: LedgerStore,
    private readonly metrics: GatewayMetrics,
    private readonly abandonedAnswers: AbandonedAnswers,
    @Inject(APP_CONFIG) config: Pick<AppConfig, 'settle'>,
    private readonly rates: RequestRates,
  ) {
    this.plausible = new PlausibleUsage(metrics, this.logger);
    this.charges = new AnswerCharges(this.plausible, abandonedAnswers);
    this.commits = new CommitWait(config.settle === 'after-response', this.logger);
    metrics.track(
      'gateway_ledger_pending_settlements',
      'Settlements and log rows awaiting their commit.',
      () => store.pendingSettlements,
    );
  }

  /**
   * Reserves the most that the request can cost on its first route. Without an output limit from the
   * caller, the route's `output` and `ceiling` are then what the credits cover.
   *
   * @throws InsufficientCreditsError when the minimum does not fit, SpendLimitError or BudgetExceededError
   * when a limit does not leave enough; logged at cost 0
   * @throws RateLimitError when a limit of requests or tokens per minute, or of open requests, is reached
   */
  async hold(caller: Caller, request: BillableRequest): Promise<Hold> {
    const rates = request.limits && (await this.rates.take(caller.tenantId, request));
    if (!rates) return this.reserve(caller, request);
    try {
      return Object.assign(await this.reserve(caller, request), { rates });
    } catch (error) {
      rates.giveBack();
      throw error;
    }
  }

  private async reserve(caller: Caller, request: BillableRequest): Promise<Hold> {
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
      subjects: heldSubjects(request.limits),
    });
    this.metrics.observeHold(performance.now() - startedMs);
    if (!outcome.admitted) {
      const refusal = refusalOf(amount, outcome, request);
      // Rate-limited requests get no log row, as with the limits of keys.
      if (!(refusal instanceof RateLimitError)) await this.refuse(caller, request, refusal);
      throw refusal;
    }
    this.openHolds++;
    const hold = new Hold(this.store, caller, request, outcome.granted ?? amount);
    try {
      hold.limitOutput();
    } catch (error) {
      await this.commits.for(this.release(hold));
      throw error;
    }
    return hold;
  }

  /** Logs, at cost 0, a planned request that was rejected before its credits were reserved. */
  async refuse(caller: Caller, request: BillableRequest, refusal: GatewayError): Promise<void> {
    const meter = new UsageMeter(request);
    const row = draftLogRow(caller, request, meter, 'refused', refusal);
    await this.commits.for(this.store.record(row));
    this.metrics.observeRequest(toObservedRequest(row, meter, 0, 0));
    notifyObserver(request, row, meter, 0);
  }

  /**
   * Passes an answer's events on and settles when it ends, whether completed, failed or abandoned by
   * its caller. The last event, `settled`, follows the commit.
   *
   * @param record builds what is written in the same transaction; called once, at the end
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
        hold.request.observer?.observe(event);
      },
      request: hold.request,
      beginGrace: () => this.abandonedAnswers.beginGrace(hold.request),
      close: (ending) => this.close(hold, meter, ending, record),
    });
  }

  /**
   * Transfers a hold to work that outlives this process, in the transaction that creates the work. From
   * its commit on, only `end` ends the hold, on any instance.
   *
   * @throws InternalError when the hold is gone
   */
  async transferHold({ request: { requestId } }: Hold, client: PoolClient): Promise<void> {
    const { rowCount } = await client.query(
      'UPDATE holds SET instance_id = NULL WHERE request_id = $1',
      [requestId],
    );
    if (rowCount !== 1) throw new InternalError({ cause: new Error('the hold is gone') });
  }

  /** Call once the transaction of `transferHold` has committed. */
  holdTransferred(hold: Hold): void {
    this.store.untrackHold(hold.request.requestId);
    this.forget(hold);
  }

  /**
   * Reopens a transferred hold of `credits` to settle it. The hold survives this process. It grows when
   * the first route has changed or costs more: a BYOK account was deleted, a price has risen.
   *
   * @throws InsufficientCreditsError when it cannot grow
   */
  async resume(caller: Caller, request: BillableRequest, credits: number): Promise<Hold> {
    const hold = new Hold(this.store, caller, request, credits);
    hold.isOpen = false; // Shutdown does not wait for it.
    hold.limitOutput();
    if (!(await hold.cover(request.routes[0]))) {
      throw new InsufficientCreditsError(
        `This request's cost has risen since it was accepted, and only the reserved ${hold.credits} credits are available. Add credits.`,
      );
    }
    hold.rates = this.rates.resume(caller.tenantId, request);
    return hold;
  }

  /** Releases a transferred hold, without a log row, when its work cannot be done. */
  releaseTransferred(requestId: string, tenantId: string): Promise<void> {
    return this.store.release(requestId, tenantId);
  }

  /** Releases a hold, without a log row, for a request that never started. */
  async release(hold: Hold): Promise<void> {
    hold.rates?.giveBack();
    await this.store.release(hold.request.requestId, hold.caller.tenantId);
    this.forget(hold);
  }

  /**
   * Ends long-running work: charge, log row and record, atomically and once, however many instances try.
   * Resolves after the commit, which waits for the database.
   *
   * @throws InternalError when it cannot be stored
   */
  async end(work: LongRunningWork, ending: LongRunningEnding): Promise<SettleOutcome> {
    const { route, record } = ending;
    const billed = ending.billed && this.plausible.cap(work, route, ending.billed);
    const charge = billed ? priceRoute(billed.usage, route) : NO_CHARGE;
    const log = draftLongRunningRow(work, ending, billed);
    const used = billed?.usage ?? ending.wasted;
    noteAttempts(log, work.attempts ?? [], used ? vendorCostOf(used, route) : 0);
    const settled = await this.store.settle({ charge, log, record: { ...record, required: true } });
    if (settled.applied) {
      const timed = { route, firstContentMs: undefined };
      this.metrics.observeRequest(toObservedRequest(log, timed, settled.cost, settled.shortfall));
    }
    return settled;
  }

  /** Ends answers that only wait for their commits, while they can still be delivered. */
  endWaits(): void {
    this.commits.endAll();
  }

  /** Waits, for a bounded time, until every hold is settled and every settlement committed. */
  async onModuleDestroy(): Promise<void> {
    this.abandonedAnswers.endGraces();
    const settled = new Promise<void>((resolve) => (this.onLastSettled = resolve));
    if (this.openHolds === 0) this.onLastSettled?.();
    const drained = settled.then(() => this.store.drain());
    await endsWithin(DRAIN_LIMIT_MS, drained);
  }

  private async close(
    hold: Hold,
    meter: UsageMeter,
    ending: AnswerEnding,
    makeRecord: MakeRecord | undefined,
  ): Promise<SettledEvent> {
    const { request } = hold;
    let charged: AnswerCharge;
    try {
      charged = await this.charges.of(hold, meter, ending);
    } catch (error) {
      // A bug in the gateway: the request is free, and its hold must not stay open.
      request.observer?.lost?.();
      request.noteEnd?.(NO_USAGE);
      await this.commits.for(this.release(hold));
      throw error;
    }
    const { log, charge } = charged;
    hold.rates?.settle(log.usage.inputTokens + log.usage.outputTokens);
    request.noteEnd?.(log.usage);
    const startedMs = performance.now();
    const record = makeRecord && recordOf(makeRecord, log, ending, this.logger);
    const commit = this.store.settle({ charge, log, record });
    this.forget(hold);
    const committed = await this.commits.for(commit, {
      hasRecord: record !== undefined,
      onCommit: () => this.metrics.observeSettle(performance.now() - startedMs),
    });
    const cost = committed?.cost ?? Math.min(totalOf(charge), log.maxCost ?? Infinity);
    this.metrics.observeRequest(toObservedRequest(log, meter, cost, committed?.shortfall ?? 0));
    notifyObserver(request, log, meter, cost);
    return {
      type: 'settled',
      cost,
      usage: log.usage,
      usageSource: log.usageSource,
      ...(makeRecord && { recorded: committed?.recorded ?? false }),
    };
  }

  /** Forgets a hold that is settled, released or transferred. */
  private forget(hold: Hold): void {
    if (!hold.isOpen) return;
    hold.isOpen = false;
    if (--this.openHolds === 0) this.onLastSettled?.();
  }
}
