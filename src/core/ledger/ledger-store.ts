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
  type Ask,
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

/** Settlements kept in memory while the database is away: about 20 MB. */
const MAX_PENDING_SETTLEMENTS = 20_000;
/** How often an outage is told again. */
const OUTAGE_REMINDER_MS = 10_000;
/** How long a shutdown waits here for what is still queued; what is left then is journalled. */
const SHUTDOWN_LIMIT_MS = 2_000;

/**
 * The ledger's writing side. Operations of concurrent requests are committed together, a group in
 * one transaction; every promise resolves after its commit.
 *
 * While the database is away settlements wait for as long as it takes; holds and covers fail with
 * a `DatabaseUnavailableError` after 2 seconds, as no work may start without them.
 */
@Injectable()
export class LedgerStore implements OnApplicationShutdown {
  private readonly logger = new Logger(LedgerStore.name);
  private readonly lanes: CommitQueues;
  private readonly timer = new CoarseTimer();
  private readonly records = new PendingRecords();
  private toldOutageAtMs: number | undefined;
  private toldLocksAtMs = -Infinity;
  /** Settlements that were still to be committed when the process had to end. */
  private leftBehind = 0;

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
    this.lanes = new CommitQueues(
      (group) => committer.commit(group),
      (error) => this.noteCommit(error),
    );
  }

  /** Settlements and log rows that are not committed yet. */
  get pendingSettlements(): number {
    return this.lanes.pendingEndings;
  }

  /** Sets credits aside for a request if they are available. */
  hold(operation: HoldOperation): Promise<HoldOutcome> {
    const amount = toAmount(operation.amount);
    if (amount === undefined) return refuseAmount(operation.amount);
    const range = operation.range && toRange(operation.range);
    const entry = new HoldEntry({ ...operation, amount, ...(range && { range }) }, this.timer);
    this.instance.own(entry.requestId, entry.promise);
    this.add(entry);
    return entry.promise;
  }

  /**
   * Enlarges the open hold of a request.
   *
   * @returns the credits added; undefined when they are not available, or the hold is gone: it is then as large as before
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
   * Ends a request: its hold is given back, its charge taken and its log row written, once per
   * request id. Rejects only when the row can't be stored at all, or too many wait already.
   */
  settle(operation: SettleOperation): Promise<SettleOutcome> {
    const charge = toStorableCharge(operation.charge);
    if (charge !== operation.charge) {
      this.logger.error(
        `Request ${operation.log.requestId} has a charge that is no amount: ` +
          `${totalOf(operation.charge)}; ${totalOf(charge)} is charged`,
      );
    }
    const record = this.records.admit(operation.record);
    const entry = new SettleEntry(operation.log, charge, true, record);
    const settled = this.addSettlement(entry);
    if (!operation.record) return settled;
    return this.records.track(settled, record, () => entry.record !== undefined);
  }

  /** Gives a hold back without a trace, for a request that came to nothing before it began. */
  release(requestId: string, tenantId: string): Promise<void> {
    const entry = new ReleaseEntry(requestId, tenantId);
    this.instance.disownAfter(entry.promise, requestId);
    this.add(entry);
    return entry.promise;
  }

  /** The hold of a request is another's from now on. */
  disown(requestId: string): void {
    this.instance.holds.delete(requestId);
  }

  /** Writes the log row of a request that was refused before credits were set aside. */
  async record(log: RequestLogDraft): Promise<void> {
    await this.addSettlement(new SettleEntry(log, NO_CHARGE, false));
  }

  /** Settles what a process before this one could not write, unless somebody has. */
  recover({ log, charge, hadHold }: JournalledSettlement): Promise<SettleOutcome> {
    return this.addSettlement(new SettleEntry(log, charge, hadHold));
  }

  /** Resolves when nothing is queued or under way, which takes a database. */
  drain(): Promise<void> {
    return this.lanes.whenIdle();
  }

  async onApplicationShutdown(): Promise<void> {
    await within(SHUTDOWN_LIMIT_MS, this.drain(), () => undefined);
    this.journalPending();
  }

  /**
   * Ends all commits, because the process ends, and writes down what none has taken: also what is in
   * one now, as nobody knows what becomes of it. Synchronous, and of no effect where nothing waits.
   *
   * @returns how many settlements this process leaves behind in all, journalled or lost
   */
  journalPending(): number {
    this.lanes.stop();
    const left: SettleEntry[] = [];
    for (const ending of this.lanes.openEndings()) {
      // Work whose row has to end with its settlement is ended by another instance.
      if (ending.kind !== 'settle' || ending.journalled || ending.record?.required) continue;
      ending.journalled = true;
      left.push(ending);
    }
    if (left.length === 0) return this.leftBehind;
    this.journal.write(this.instance.id, left);
    this.leftBehind += left.length;
    return this.leftBehind;
  }

  private addSettlement(entry: SettleEntry): Promise<SettleOutcome> {
    this.instance.disownAfter(entry.promise, entry.requestId);
    if (this.pendingSettlements >= MAX_PENDING_SETTLEMENTS) {
      const cause = new Error(`${MAX_PENDING_SETTLEMENTS} settlements wait for the database`);
      this.logger.error(`${describeLoss(entry)}, request ${entry.requestId}: ${cause.message}`);
      this.journal.observeLoss(entry);
      entry.fail(new DatabaseUnavailableError({ cause }));
    } else {
      this.add(entry);
    }
    return entry.promise;
  }

  private add(entry: Ending | Ask): void {
    this.lanes.add(entry);
  }

  /** @param error why the database took no group, or not all of one; undefined when it did */
  private noteCommit(error: unknown): void {
    if (error === undefined) {
      if (this.toldOutageAtMs === undefined) return;
      this.toldOutageAtMs = undefined;
      this.logger.log('The database takes settlements again');
      return;
    }
    const nowMs = performance.now();
    if (classifyFailure(error) === 'locked') {
      if (nowMs - this.toldLocksAtMs < OUTAGE_REMINDER_MS) return;
      this.toldLocksAtMs = nowMs;
      const { tenantsAside } = this.lanes;
      this.logger.error(
        `Another session has locked what ${tenantsAside} tenants' settlements need, which wait: ${describeError(error)}`,
      );
      return;
    }
    if (nowMs - (this.toldOutageAtMs ?? -Infinity) < OUTAGE_REMINDER_MS) return;
    this.toldOutageAtMs = nowMs;
    this.logger.error(
      `The database takes no settlements, ${this.pendingSettlements} wait: ${describeError(error)}`,
    );
  }
}

/** The credits as an amount; more than any account can have is cut to that much. */
function toAmount(credits: number): number | undefined {
  const amount = Math.min(credits, Number.MAX_SAFE_INTEGER);
  return isAmount(amount) ? amount : undefined;
}

function toRange({ most, base }: CreditRange): CreditRange {
  const { MAX_SAFE_INTEGER } = Number;
  return { most: Math.min(most, MAX_SAFE_INTEGER), base: Math.min(base, MAX_SAFE_INTEGER) };
}

/** Credits that are no amount, which only a defect can ask for. */
function refuseAmount(credits: number): Promise<never> {
  const cause = new RangeError(`${credits} is no amount of credits`);
  return Promise.reject(new InternalError({ cause }));
}
