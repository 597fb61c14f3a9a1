import {
  ReleaseEntry,
  type Ask,
  type Ending,
  type HoldEntry,
  type LedgerGroup,
} from './ledger-entry.js';

/** The most of either kind in one transaction: keeps its statements and its locks short. */
const MAX_GROUP_SIZE = 500;

/** What waits for the next transaction, in the order of arrival. */
export class LedgerQueue {
  private endings: Ending[] = [];
  private asks: Ask[] = [];
  private inFlight: Ending[] = [];

  /** Endings that wait or are in a transaction now. */
  get pendingEndings(): number {
    return this.endings.length + this.inFlight.length;
  }

  /** Those that wait or are in a transaction now. */
  openEndings(): Ending[] {
    return [...this.inFlight, ...this.endings].filter((ending) => !ending.answered);
  }

  isEmpty(): boolean {
    return this.endings.length === 0 && this.asks.length === 0;
  }

  add(entry: Ending | Ask): void {
    if (entry.kind === 'settle' || entry.kind === 'release') this.endings.push(entry);
    else this.asks.push(entry);
  }

  /** Takes out all that is of these tenants, wherever it stands. */
  extract(tenantIds: ReadonlySet<string>): (Ending | Ask)[] {
    const isTheirs = ({ tenantId }: Ending | Ask): boolean => tenantIds.has(tenantId);
    const extracted = [...this.endings.filter(isTheirs), ...this.asks.filter(isTheirs)];
    this.endings = this.endings.filter((ending) => !isTheirs(ending));
    this.asks = this.asks.filter((ask) => !isTheirs(ask));
    return extracted;
  }

  /** Takes the oldest entries; they are in flight until `landed` or `putBack`. */
  take(): LedgerGroup {
    const group: LedgerGroup = { endings: this.endings.splice(0, MAX_GROUP_SIZE), asks: [] };
    for (const ask of this.asks.splice(0, MAX_GROUP_SIZE)) {
      if (!ask.answered) group.asks.push(ask);
      else if (mayBeOrphan(ask)) group.endings.push(releaseOf(ask));
    }
    this.inFlight = group.endings;
    return group;
  }

  /** Ends the flight of a group that was committed. */
  landed(): void {
    this.inFlight = [];
  }

  /** Ends the flight of a group that was not committed, or only in part, and queues the rest again. */
  putBack(group: LedgerGroup): void {
    this.landed();
    this.endings.unshift(...group.endings.filter((ending) => !ending.answered));
    this.asks.unshift(...group.asks.filter((ask) => !ask.answered || mayBeOrphan(ask)));
  }
}

/** What gives back a hold whose caller was told that there is none. */
export function releaseOf(hold: HoldEntry): ReleaseEntry {
  return new ReleaseEntry(hold.requestId, hold.tenantId);
}

/**
 * A hold whose caller gave up after a commit that may have taken place. A cover needs no such care:
 * the hold that it enlarged has a caller, who ends it.
 */
function mayBeOrphan(ask: Ask): ask is HoldEntry {
  return ask.kind === 'hold' && ask.timedOut && ask.maybeCommitted;
}
