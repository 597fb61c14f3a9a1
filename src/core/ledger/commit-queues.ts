import { toError } from '../../platform/errors/thrown.js';
import { classifyFailure } from './database-failure.js';
import { GroupCommit, type CommitSource } from './group-commit.js';
import { toGroup, type Reservation, type Ending, type LedgerGroup } from './ledger-entry.js';
import { LedgerQueue } from './ledger-queue.js';
import { sizeOf } from './pending-records.js';

/**
 * Largest record that is written within milliseconds; a stored answer may have tens of millions of
 * characters.
 */
const MAX_RECORD_CHARACTERS = 256_000;

/** Commits a group. Throws when the database cannot take all of it now. */
type Commit = (group: LedgerGroup) => Promise<void>;

/** Entries awaiting commit in order of arrival, one group at a time. */
class CommitQueue implements CommitSource {
  readonly queue = new LedgerQueue();
  readonly groupCommit = new GroupCommit(this);

  constructor(
    private readonly commit: Commit,
    /** Called after each group, with the error when it must be retried. */
    private readonly onCommit: (error: unknown) => void,
  ) {}

  add(entry: Ending | Reservation): void {
    this.queue.add(entry);
    this.groupCommit.wake();
  }

  hasWork(): boolean {
    return !this.queue.isEmpty();
  }

  async commitNext(): Promise<boolean> {
    const group = this.queue.take();
    try {
      if (group.endings.length + group.reservations.length > 0) await this.commit(group);
    } catch (error) {
      this.queue.putBack(group);
      this.onCommit(error);
      return false;
    }
    this.queue.endFlight();
    this.onCommit(undefined);
    return true;
  }
}

/**
 * The commit queues: one for all tenants, and a side queue for tenants whose rows are
 * locked or whose records are slow to write, so that they delay no others. Each tenant on the side
 * queue has its own transaction, and leaves the queue after its commit.
 */
export class CommitQueues {
  private readonly main: CommitQueue;
  private readonly side: CommitQueue;
  /** Tenants on the side queue. */
  private readonly sideTenants = new Set<string>();

  /**
   * @param onCommit called after each group, with the error if part of it was not committed
   */
  constructor(
    private readonly commit: Commit,
    onCommit: (error: unknown) => void,
  ) {
    this.main = new CommitQueue(this.commitTogether.bind(this), onCommit);
    this.side = new CommitQueue(this.commitApart.bind(this), onCommit);
  }

  /** Endings queued or being committed. */
  get pendingEndings(): number {
    return this.main.queue.pendingEndings + this.side.queue.pendingEndings;
  }

  /** Number of tenants on the side queue. */
  get sideTenantCount(): number {
    return this.sideTenants.size;
  }

  /** Returns the endings queued or being committed. */
  openEndings(): Ending[] {
    return [...this.main.queue.openEndings(), ...this.side.queue.openEndings()];
  }

  add(entry: Ending | Reservation): void {
    // Writing the record locks the account, so the tenant's other entries follow it.
    if (isSlow(entry)) this.moveToSide([entry.tenantId]);
    (this.sideTenants.has(entry.tenantId) ? this.side : this.main).add(entry);
  }

  /** Resolves when nothing is queued or in progress. */
  async whenIdle(): Promise<void> {
    await this.main.groupCommit.whenIdle();
    await this.side.groupCommit.whenIdle();
  }

  /** Stops for good, dropping remaining work. */
  stop(): void {
    this.main.groupCommit.stop();
    this.side.groupCommit.stop();
  }

  private async commitTogether(group: LedgerGroup): Promise<void> {
    try {
      await this.commit(group);
    } catch (error) {
      if (classifyFailure(error) !== 'locked') throw error;
      this.main.queue.putBack(group);
      // The locked tenant is unknown; others leave the side queue at once.
      const open = [...group.endings, ...group.reservations].filter(({ answered }) => !answered);
      this.moveToSide(open.map(({ tenantId }) => tenantId));
    }
  }

  private moveToSide(tenantIds: readonly string[]): void {
    for (const tenantId of tenantIds) this.sideTenants.add(tenantId);
    for (const entry of this.main.queue.extract(this.sideTenants)) this.side.add(entry);
  }

  /**
   * Moves the tenant's pending entries as well, or a busy tenant would stay on the side queue as long
   * as another is locked.
   */
  private returnToMain(tenantId: string): void {
    this.sideTenants.delete(tenantId);
    for (const entry of this.side.queue.extract(new Set([tenantId]))) this.add(entry);
  }

  private async commitApart(group: LedgerGroup): Promise<void> {
    let locked: Error | undefined;
    for (const [tenantId, entries] of byTenant(group)) {
      try {
        await this.commit(toGroup(entries));
        this.returnToMain(tenantId);
      } catch (error) {
        if (classifyFailure(error) !== 'locked') throw error;
        locked = toError(error);
      }
    }
    if (locked) throw locked;
  }
}

function isSlow(entry: Ending | Reservation): boolean {
  const record = entry.kind === 'settle' ? entry.record : undefined;
  return record !== undefined && sizeOf(record) > MAX_RECORD_CHARACTERS;
}

function byTenant({ endings, reservations }: LedgerGroup): Map<string, (Ending | Reservation)[]> {
  const entries = new Map<string, (Ending | Reservation)[]>();
  for (const entry of [...endings, ...reservations]) {
    const others = entries.get(entry.tenantId);
    if (others) others.push(entry);
    else entries.set(entry.tenantId, [entry]);
  }
  return entries;
}
