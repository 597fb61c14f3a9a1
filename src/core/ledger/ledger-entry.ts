import type { QueryConfig } from 'pg';
import { NOT_WATCHED, type CoarseTimer, type Watched } from '../../platform/time/coarse-timer.js';
import { DatabaseUnavailableError } from '../../platform/errors/gateway-errors.js';
import { missingSheets, storeSheets, type PriceSnapshot } from './receipts/price-snapshot.js';
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
 * How long a caller waits for credits to be set aside when the database does not answer: 2 s, less
 * the tick of the timer that watches it.
 */
const ASK_PATIENCE_MS = 1_900;

/** One operation on its way into a transaction, and the promise its caller waits on. */
abstract class LedgerEntry<Outcome> {
  /** Decided inside the transaction; told to the caller once that has committed. */
  outcome: Outcome | undefined;
  answered = false;
  /** True once a commit that held this entry ended without saying whether it took place. */
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

  /** Tells the caller the outcome, which must have been decided. */
  succeed(): void {
    this.answered = true;
    this.resolve(this.outcome as Outcome);
  }

  fail(error: Error): void {
    this.answered = true;
    this.reject(error);
  }
}

/** Ends a request: its charge, if any, and its log row. Waits for as long as it takes. */
export class SettleEntry extends LedgerEntry<SettleOutcome> {
  readonly kind = 'settle';
  /** True in the last try of a row that failed alone. */
  blanked = false;
  /** True once it stands in a journal, because the process ends. */
  journalled = false;

  constructor(
    public log: RequestLogDraft,
    readonly charge: Charge,
    /** False for a request that was refused before credits were set aside. */
    readonly hadHold: boolean,
    /** Taken away when it can't be stored, so that the settlement still can. */
    public record?: SettlementRecord,
  ) {
    super();
    // Failures are logged by the store; a caller that does not wait for them must not crash.
    this.promise.catch(() => undefined);
  }

  get requestId(): string {
    return this.log.requestId;
  }

  get tenantId(): string {
    return this.log.tenantId;
  }
}

/** The statements of a group beside those of the ledger's own tables: prices, then records. */
export function writtenBeside(
  settlements: readonly SettleEntry[],
  sheets: readonly PriceSnapshot[],
): QueryConfig[] {
  const records = settlements.flatMap(({ record }) => record ?? []);
  return sheets.length === 0 ? records : [...storeSheets(sheets), ...records];
}

/** The prices of settlements that are to be stored with them. */
export function sheetsOf(session: object, settlements: readonly SettleEntry[]): PriceSnapshot[] {
  return missingSheets(
    session,
    settlements.map(({ log }) => log.billedBy),
  );
}

/** Gives back a hold whose caller was told that there is none. */
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

/** An operation that a caller waits for before any work starts, and not for long. */
abstract class AskEntry<Outcome> extends LedgerEntry<Outcome> implements Watched {
  readonly deadlineMs = performance.now() + ASK_PATIENCE_MS;
  watchIndex = NOT_WATCHED;
  /** True when the caller was told that it took too long. */
  timedOut = false;

  constructor(private readonly timer: CoarseTimer) {
    super();
    timer.watch(this);
  }

  onDeadline(): void {
    this.timedOut = true;
    const cause = new Error('the ledger did not answer in time');
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

/** Sets credits aside. */
export class HoldEntry extends AskEntry<HoldOutcome> {
  readonly kind = 'hold';
  /** Of an operation with a range, what the transaction sets aside. */
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
export class CoverEntry extends AskEntry<boolean> {
  readonly kind = 'cover';
  /** What the transaction adds to the hold. */
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

/** What ends holds, and is applied first. */
export type Ending = SettleEntry | ReleaseEntry;
/** What needs credits, in the order of arrival. */
export type Ask = HoldEntry | CoverEntry;

/** The operations of one transaction. */
export interface LedgerGroup {
  endings: Ending[];
  asks: Ask[];
}

export function toGroup(entries: readonly (Ending | Ask)[]): LedgerGroup {
  const group: LedgerGroup = { endings: [], asks: [] };
  for (const entry of entries) {
    if (entry.kind === 'settle' || entry.kind === 'release') group.endings.push(entry);
    else group.asks.push(entry);
  }
  return group;
}
