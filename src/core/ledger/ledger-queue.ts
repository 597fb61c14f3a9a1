import {
  ReleaseEntry,
  type Reservation,
  type Ending,
  type HoldEntry,
  type LedgerGroup,
} from './ledger-entry.js';

/** Maximum number of each kind in one transaction: keeps its statements and locks short. */
const MAX_GROUP_SIZE = 500;

/** Entries awaiting the next transaction, in order of arrival. */
export class LedgerQueue {
  private endings: Ending[] = [];
  private reservations: Reservation[] = [];
  private inFlight: Ending[] = [];

  /** Number of endings queued or in the current transaction. */
  get pendingEndings(): number {
    return this.endings.length + this.inFlight.length;
  }

  /** Returns the unresolved endings, queued or in the current transaction. */
  openEndings(): Ending[] {
    return [...this.inFlight, ...this.endings].filter((ending) => !ending.answered);
  }

  isEmpty(): boolean {
    return this.endings.length === 0 && this.reservations.length === 0;
  }

  add(entry: Ending | Reservation): void {
    if (entry.kind === 'settle' || entry.kind === 'release') this.endings.push(entry);
    else this.reservations.push(entry);
  }

  /** Removes and returns all queued entries of these tenants. */
  extract(tenantIds: ReadonlySet<string>): (Ending | Reservation)[] {
    const isTheirs = ({ tenantId }: Ending | Reservation): boolean => tenantIds.has(tenantId);
    const extracted = [...this.endings.filter(isTheirs), ...this.reservations.filter(isTheirs)];
    this.endings = this.endings.filter((ending) => !isTheirs(ending));
    this.reservations = this.reservations.filter((reservation) => !isTheirs(reservation));
    return extracted;
  }

  /** Takes the oldest entries, which are in flight until `endFlight` or `putBack`. */
  take(): LedgerGroup {
    const group: LedgerGroup = {
      endings: this.endings.splice(0, MAX_GROUP_SIZE),
      reservations: [],
    };
    for (const reservation of this.reservations.splice(0, MAX_GROUP_SIZE)) {
      if (!reservation.answered) group.reservations.push(reservation);
      else if (mayBeOrphan(reservation)) group.endings.push(releaseOf(reservation));
    }
    this.inFlight = group.endings;
    return group;
  }

  /** Call after the group was committed. */
  endFlight(): void {
    this.inFlight = [];
  }

  /** Queues the entries of a failed or partly committed group again, except the resolved ones. */
  putBack(group: LedgerGroup): void {
    this.endFlight();
    this.endings.unshift(...group.endings.filter((ending) => !ending.answered));
    this.reservations.unshift(
      ...group.reservations.filter(
        (reservation) => !reservation.answered || mayBeOrphan(reservation),
      ),
    );
  }
}

/** Returns the entry that releases a hold which its caller believes to have failed. */
export function releaseOf(hold: HoldEntry): ReleaseEntry {
  return new ReleaseEntry(hold.requestId, hold.tenantId);
}

/**
 * Returns whether a hold timed out after a commit that may have taken place. Covers do not matter: the
 * caller of the enlarged hold ends it.
 */
function mayBeOrphan(reservation: Reservation): reservation is HoldEntry {
  return reservation.kind === 'hold' && reservation.timedOut && reservation.maybeCommitted;
}
