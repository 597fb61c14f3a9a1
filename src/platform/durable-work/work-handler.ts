import type { Topic } from '../queue/work-queue.js';
import type { Lease } from './lease.js';
import type { Place, SlotLimits, SlotOutcome } from './work-slots.js';

/** A row claimed for one run. A newer claim invalidates it. */
export interface Claim {
  readonly id: string;
}

/** How a run ended. The handler has recorded it in the row. */
export interface RunOutcome extends SlotOutcome {
  /** When the row is due again; undefined when this process need not return to it. */
  readonly afterMs?: number;
  /** True when it returns to the same group without another look at the row. */
  readonly isSamePlace?: boolean;
  /** True when the stop of this process cut the run short. */
  readonly isInterrupted?: boolean;
}

/** Rows by state. */
export interface WorkDepth {
  /** Due and unclaimed. */
  readonly waiting: number;
  /** Due later. */
  readonly delayed: number;
  /** Claimed; undefined when the rows count those as delayed. */
  readonly active?: number;
}

/** Owns the rows of one kind of durable work, and runs them. */
export interface WorkHandler<Row extends Claim> {
  /** Returns where a woken row runs; undefined when it is not due. */
  place(id: string): Promise<Place | undefined>;
  /** Claims a row for a lease; undefined when it is not due, done, or claimed elsewhere. */
  claim(id: string): Promise<Row | undefined>;
  /** Extends the lease. Returns false when the row has ended or was claimed again. */
  renew?(row: Row): Promise<boolean>;
  /**
   * Does the work and records its outcome, unless a newer claim exists.
   *
   * @param holds receives the size of the body in bytes as soon as it is known
   */
  run(row: Row, lease: Lease, holds: (bytes: number) => void): Promise<RunOutcome>;
  /** Ends leases. The rows are due after the delay. @param isTry whether the runs count as attempts */
  release(rows: readonly Row[], delayMs: number, isTry: boolean): Promise<void>;
  /** True when a run is handed over at the start of a shutdown instead of being awaited. */
  leavesAtOnce?(row: Row): boolean;
  /** Returns due rows of a group, the longest due first. */
  findDue?(group: string, limit: number): Promise<string[]>;
  /** SQL condition: `takeLost` would find rows. */
  readonly areLost?: string;
  /** Returns due rows that no wake-up reached or whose worker died, and marks them as woken. */
  takeLost?(limit: number): Promise<string[]>;
  depth?(): Promise<WorkDepth>;
  /** Deletes or drops rows that are no longer needed. Several processes may do so at once. */
  tidy?(): Promise<void>;
}

export interface WorkPolicy {
  /** Undefined: no other process is woken, and rows left behind wait for a sweep. */
  readonly topic?: Topic;
  readonly slots: SlotLimits;
  /** How often leases are renewed; 4 s by default. */
  readonly renewEveryMs?: number;
  /** The pause after a run that threw; undefined: until its lease expires. */
  readonly failurePauseMs?: number;
  /** How often `tidy` runs; one hour by default. */
  readonly tidyEveryMs?: number;
  /** When runs are stopped: at the end of the drain, or one second after it. */
  readonly stops: 'with-drain' | 'after-drain';
  /**
   * True when an interrupted run is released for another process. Otherwise its outcome is in doubt, its lease expires,
   * and the next claim decides.
   */
  readonly isRepeatable: boolean;
}
