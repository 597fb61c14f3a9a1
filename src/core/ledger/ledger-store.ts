import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { DatabaseUnavailableError, InternalError } from '../../platform/errors/gateway-errors.js';
import { CoarseTimer } from '../../platform/time/coarse-timer.js';
import { within } from '../../platform/time/within.js';
import type { RequestLogDraft } from '../request-log/request-log-row.js';
import { classifyFailure, describeError, describeLoss } from './database-failure.js';
import { InstanceService } from './instance.service.js';
import { LedgerCommitter } from './ledger-committer.js';
import {
  CoverEntry,
  HoldEntry,
  ReleaseEntry,
  SettleEntry,
  type Reservation,
  type Ending,
} from './ledger-entry.js';
import type {
  CoverOperation,
  CreditRange,
  HoldOperation,
  HoldOutcome,
  SettleOperation,
  SettleOutcome,
} from './ledger-operations.js';
import { CommitQueues } from './commit-queues.js';
import { releaseOf } from './ledger-queue.js';
import { PendingRecords } from './pending-records.js';
import type { JournalledSettlement } from './journal-lines.js';
import { SettlementJournal } from './settlement-journal.js';
import { NO_CHARGE, totalOf, isAmount, toStorableCharge } from './pricing.js';

/** Settlements queued in memory while the database is unavailable: about 20 MB. */
const MAX_PENDING_SETTLEMENTS = 20_000;
/** How often an ongoing outage is logged. */
const OUTAGE_REMINDER_MS = 10_000;
/** How long a shutdown waits for queued entries; the rest is journalled. */
const SHUTDOWN_LIMIT_MS = 2_000;

/**
 * Writes the ledger. Commits the operations of concurrent requests in groups, one transaction each;
 * every promise resolves after its commit.
 *
 * While the database is unavailable, settlements wait as long as it takes. Holds and covers fail with
 * `DatabaseUnavailableError` after 2 seconds, since no work may start without them.
 */
@Injectable()
export class LedgerStore implements OnApplicationShutdown {
  private readonly logger = new Logger(LedgerStore.name);
  private readonly queues: CommitQueues;
  private readonly timer = new CoarseTimer();
  private readonly records = new PendingRecords();
  private outageLoggedAtMs: number | undefined;
  private locksLoggedAtMs = -Infinity;
  /** Settlements that were not committed before the process ended. */
  private uncommitted = 0;

  constructor(
    private readonly database: Database,
    private readonly instance: InstanceService,
    private readonly journal: SettlementJournal,
  ) {
    const committer = new LedgerCommitter(
      () => this.database.ledgerPool,
      instance.id,
      (hold) => this.add(releaseOf(hold)),
      (entry) => this.journal.observeLoss(entry),
    );
    this.queues = new CommitQueues(
      (group) => committer.commit(group),
      (error) => this.noteCommit(error),
    );
  }

  /** Settlements and log rows awaiting their commit. */
  get pendingSettlements(): number {
    return this.queues.pendingEndings;
  }

  /** Reserves credits for a request if they are available. */
  hold(operation: HoldOperation): Promise<HoldOutcome> {
    const amount = toAmount(operation.amount);
    if (amount === undefined) return refuseAmount(operation.amount);
    const range = operation.range && toRange(operation.range);
    const entry = new HoldEntry({ ...operation, amount, ...(range && { range }) }, this.timer);
    this.instance.trackHold(entry.requestId, entry.promise);
    this.add(entry);
    return entry.promise;
  }

  /**
   * Enlarges the open hold of a request.
   *
   * @returns the credits added; undefined when too few are available or the hold is gone, which changes nothing
   */
  async cover(operation: CoverOperation): Promise<number | undefined> {
    const additional = toAmount(operation.additional);
    if (additional === undefined) return refuseAmount(operation.additional);
    const { range } = operation;
    const entry = new CoverEntry(
      {
        ...operation,
        additional,
        ...(range && { range: { ...toRange(range), held: range.held } }),
      },
      this.timer,
    );
    this.add(entry);
    return (await entry.promise) ? entry.granted : undefined;
  }

  /**
   * Ends a request: releases its hold, takes its charge and writes its log row, once per request id.
   * Rejects only when the row cannot be stored at all, or too many are waiting.
   */
  settle(operation: SettleOperation): Promise<SettleOutcome> {
    const charge = toStorableCharge(operation.charge);
    if (charge !== operation.charge) {
      this.logger.error(
        `invalid charge (request ${operation.log.requestId}): ` +
          `${totalOf(operation.charge)} credits, charged as ${totalOf(charge)}`,
      );
    }
    const record = this.records.admit(operation.record);
    const entry = new SettleEntry(operation.log, charge, true, record);
    const settled = this.addSettlement(entry);
    if (!operation.record) return settled;
    return this.records.track(settled, record, () => entry.record !== undefined);
  }

  /** Releases a hold without a log row, for a request that never started. */
  release(requestId: string, tenantId: string): Promise<void> {
    const entry = new ReleaseEntry(requestId, tenantId);
    this.instance.untrackHoldAfter(entry.promise, requestId);
    this.add(entry);
    return entry.promise;
  }

  /** Stops tracking a hold that was transferred. */
  untrackHold(requestId: string): void {
    this.instance.holds.delete(requestId);
  }

  /** Writes the log row of a request rejected before its credits were reserved. */
  async record(log: RequestLogDraft): Promise<void> {
    await this.addSettlement(new SettleEntry(log, NO_CHARGE, false));
  }

  /** Applies a settlement that an earlier process journalled, unless it was applied already. */
  recover({ log, charge, hadHold }: JournalledSettlement): Promise<SettleOutcome> {
    return this.addSettlement(new SettleEntry(log, charge, hadHold));
  }

  /** Resolves when nothing is queued or in progress, which requires a database. */
  drain(): Promise<void> {
    return this.queues.whenIdle();
  }

  async onApplicationShutdown(): Promise<void> {
    await within(SHUTDOWN_LIMIT_MS, this.drain(), () => undefined);
    this.journalPending();
  }

  /**
   * Stops all commits, because the process ends, and journals what is not committed, including entries
   * in flight, whose outcome is unknown. Synchronous; does nothing when nothing is pending.
   *
   * @returns how many settlements this process leaves behind in total, journalled or lost
   */
  journalPending(): number {
    this.queues.stop();
    const left: SettleEntry[] = [];
    for (const ending of this.queues.openEndings()) {
      // Work with a required record is settled by another instance.
      if (ending.kind !== 'settle' || ending.journalled || ending.record?.required) continue;
      ending.journalled = true;
      left.push(ending);
    }
    if (left.length === 0) return this.uncommitted;
    this.journal.write(this.instance.id, left);
    this.uncommitted += left.length;
    return this.uncommitted;
  }

  private addSettlement(entry: SettleEntry): Promise<SettleOutcome> {
    this.instance.untrackHoldAfter(entry.promise, entry.requestId);
    if (this.pendingSettlements >= MAX_PENDING_SETTLEMENTS) {
      const cause = new Error(
        `${MAX_PENDING_SETTLEMENTS} settlements are waiting for the database`,
      );
      this.logger.error(`${describeLoss(entry)} (request ${entry.requestId}): ${cause.message}`);
      this.journal.observeLoss(entry);
      entry.fail(new DatabaseUnavailableError({ cause }));
    } else {
      this.add(entry);
    }
    return entry.promise;
  }

  private add(entry: Ending | Reservation): void {
    this.queues.add(entry);
  }

  /** @param error why the database rejected a group or part of it; undefined on success */
  private noteCommit(error: unknown): void {
    if (error === undefined) {
      if (this.outageLoggedAtMs === undefined) return;
      this.outageLoggedAtMs = undefined;
      this.logger.log('settlements resumed');
      return;
    }
    const nowMs = performance.now();
    if (classifyFailure(error) === 'locked') {
      if (nowMs - this.locksLoggedAtMs < OUTAGE_REMINDER_MS) return;
      this.locksLoggedAtMs = nowMs;
      const { sideTenantCount } = this.queues;
      this.logger.error(
        `settlements of ${sideTenantCount} tenants wait for another session's locks: ${describeError(error)}`,
      );
      return;
    }
    if (nowMs - (this.outageLoggedAtMs ?? -Infinity) < OUTAGE_REMINDER_MS) return;
    this.outageLoggedAtMs = nowMs;
    this.logger.error(
      `settlements paused, ${this.pendingSettlements} pending: ${describeError(error)}`,
    );
  }
}

/** Returns the credits as an amount, capped at an account's maximum; undefined when invalid. */
function toAmount(credits: number): number | undefined {
  const amount = Math.min(credits, Number.MAX_SAFE_INTEGER);
  return isAmount(amount) ? amount : undefined;
}

function toRange({ most, base }: CreditRange): CreditRange {
  const { MAX_SAFE_INTEGER } = Number;
  return { most: Math.min(most, MAX_SAFE_INTEGER), base: Math.min(base, MAX_SAFE_INTEGER) };
}

/** Rejects credits that are not an amount, which only a bug can request. */
function refuseAmount(credits: number): Promise<never> {
  const cause = new RangeError(`${credits} is not an amount of credits`);
  return Promise.reject(new InternalError({ cause }));
}
