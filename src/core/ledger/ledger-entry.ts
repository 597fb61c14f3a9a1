import type { QueryConfig } from 'pg';
import { NOT_WATCHED, type CoarseTimer, type Watched } from '../../platform/time/coarse-timer.js';
import { DatabaseUnavailableError } from '../../platform/errors/gateway-errors.js';
import { missingSnapshots, storeSnapshots, type PriceSnapshot } from './receipts/price-snapshot.js';
import type { LimitedSubject } from '../../canonical/limits.js';
import type { RequestLogDraft } from '../request-log/request-log-row.js';
import type {
  Charge,
  CoverOperation,
  HoldOperation,
  HoldOutcome,
  SettleOutcome,
  SettlementRecord,
} from './ledger-operations.js';

/**
 * How long a caller waits for a reservation while the database does not respond: 2 s, less the tick of
 * the timer.
 */
const RESERVATION_TIMEOUT_MS = 1_900;

/** An operation to be committed, and the promise its caller waits on. */
abstract class LedgerEntry<Outcome> {
  /** Decided within the transaction; reported to the caller after its commit. */
  outcome: Outcome | undefined;
  answered = false;
  /** True once a commit with this entry failed without saying whether it took place. */
  maybeCommitted = false;
  readonly promise: Promise<Outcome>;
  private resolve: (outcome: Outcome) => void;
  private reject: (error: Error) => void;

  constructor() {
    this.promise = new Promise<Outcome>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Resolves the promise with the outcome, which must be set. */
  succeed(): void {
    this.answered = true;
    this.resolve(this.outcome as Outcome);
  }

  fail(error: Error): void {
    this.answered = true;
    this.reject(error);
  }
}

/** Ends a request with its charge, if any, and its log row. Waits as long as it takes. */
export class SettleEntry extends LedgerEntry<SettleOutcome> {
  readonly kind = 'settle';
  /** True on the last attempt to store a row that cannot be stored. */
  blanked = false;
  /** True once it is written to a journal at shutdown. */
  journalled = false;

  constructor(
    public log: RequestLogDraft,
    readonly charge: Charge,
    /** False for a request rejected before its credits were reserved. */
    readonly hadHold: boolean,
    /** Dropped when it cannot be stored, so that the settlement still can. */
    public record?: SettlementRecord,
  ) {
    super();
    // The store logs failures; callers that do not wait for them must not crash.
    this.promise.catch(() => undefined);
  }

  get requestId(): string {
    return this.log.requestId;
  }

  get tenantId(): string {
    return this.log.tenantId;
  }
}

/** Returns a group's statements for tables outside the ledger: prices, then records. */
export function recordStatements(
  settlements: readonly SettleEntry[],
  snapshots: readonly PriceSnapshot[],
): QueryConfig[] {
  const records = settlements.flatMap(({ record }) => record ?? []);
  return snapshots.length === 0 ? records : [...storeSnapshots(snapshots), ...records];
}

/** Returns the price snapshots to store with the settlements. */
export function snapshotsOf(session: object, settlements: readonly SettleEntry[]): PriceSnapshot[] {
  return missingSnapshots(
    session,
    settlements.map(({ log }) => log.billedBy),
  );
}

/** Releases a hold that its caller believes to have failed. */
export class ReleaseEntry extends LedgerEntry<void> {
  readonly kind = 'release';

  constructor(
    readonly requestId: string,
    readonly tenantId: string,
  ) {
    super();
    this.promise.catch(() => undefined);
  }
}

/** An operation that a caller waits for, briefly, before any work starts. */
abstract class ReservationEntry<Outcome> extends LedgerEntry<Outcome> implements Watched {
  readonly deadlineMs = performance.now() + RESERVATION_TIMEOUT_MS;
  watchIndex = NOT_WATCHED;
  /** True when the promise was rejected for taking too long. */
  timedOut = false;

  constructor(private readonly timer: CoarseTimer) {
    super();
    timer.watch(this);
  }

  onDeadline(): void {
    this.timedOut = true;
    const cause = new Error('the ledger did not respond in time');
    this.fail(new DatabaseUnavailableError({ cause }));
  }

  override succeed(): void {
    this.timer.unwatch(this);
    super.succeed();
  }

  override fail(error: Error): void {
    this.timer.unwatch(this);
    super.fail(error);
  }
}

/** Reserves credits. */
export class HoldEntry extends ReservationEntry<HoldOutcome> {
  readonly kind = 'hold';
  /** Credits reserved by the transaction, for an operation with a range. */
  granted: number | undefined;

  constructor(
    readonly operation: HoldOperation,
    timer: CoarseTimer,
  ) {
    super(timer);
  }

  get requestId(): string {
    return this.operation.requestId;
  }

  get tenantId(): string {
    return this.operation.tenantId;
  }

  get apiKeyId(): string {
    return this.operation.apiKeyId;
  }

  get spendLimited(): boolean {
    return this.operation.spendLimited === true;
  }

  get subjects(): readonly LimitedSubject[] | undefined {
    return this.operation.subjects;
  }

  get isLimited(): boolean {
    return this.spendLimited || this.subjects !== undefined;
  }
}

/** Enlarges an open hold. */
export class CoverEntry extends ReservationEntry<boolean> {
  readonly kind = 'cover';
  /** Credits that the transaction adds to the hold. */
  granted = 0;

  constructor(
    readonly operation: CoverOperation,
    timer: CoarseTimer,
  ) {
    super(timer);
  }

  get requestId(): string {
    return this.operation.requestId;
  }

  get tenantId(): string {
    return this.operation.tenantId;
  }

  get apiKeyId(): string | undefined {
    return this.operation.limitedKeyId;
  }

  get spendLimited(): boolean {
    return this.apiKeyId !== undefined;
  }

  get subjects(): readonly LimitedSubject[] | undefined {
    return this.operation.subjects;
  }

  get isLimited(): boolean {
    return this.spendLimited || this.subjects !== undefined;
  }
}

/** An entry that ends a request or hold; applied first. */
export type Ending = SettleEntry | ReleaseEntry;
/** An entry that needs credits; admitted in order of arrival. */
export type Reservation = HoldEntry | CoverEntry;

/** The operations of one transaction. */
export interface LedgerGroup {
  endings: Ending[];
  reservations: Reservation[];
}

export function toGroup(entries: readonly (Ending | Reservation)[]): LedgerGroup {
  const group: LedgerGroup = { endings: [], reservations: [] };
  for (const entry of entries) {
    if (entry.kind === 'settle' || entry.kind === 'release') group.endings.push(entry);
    else group.reservations.push(entry);
  }
  return group;
}
