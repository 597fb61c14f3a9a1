import { FairQueue } from '../../platform/queue/fair-queue.js';

/** More jobs of one tenant are not remembered here; their wake-ups come again. */
const MAX_WAITING_PER_TENANT = 1_000;

/**
 * Bounds how many jobs of one provider this process works on at once. Asking how work stands has
 * room of its own, so that long submissions do not keep results waiting. In a lane that is full,
 * tenants take turns.
 */
export class JobLanes {
  private readonly lanes = new Map<string, Lane>();

  constructor(private readonly width: number) {}

  /** The lane of a provider's work of a kind. */
  name(provider: string, kind: LaneKind): string {
    return `${kind} ${provider}`;
  }

  /** True when the job has a place; else it waits for one, and `leave` gives its id. */
  enter(name: string, tenantId: string, id: string): boolean {
    const lane = this.lane(name);
    if (lane.taken < this.width) {
      lane.taken++;
      lane.waiting.remove(tenantId, id);
      return true;
    }
    lane.waiting.add(tenantId, id);
    return false;
  }

  /** Gives a place back. @returns the job that has it now; undefined: it is free */
  leave(name: string): string | undefined {
    const lane = this.lane(name);
    const next = lane.waiting.take();
    if (next === undefined) lane.taken--;
    if (lane.taken === 0) this.lanes.delete(name);
    return next;
  }

  /** How many wait in a lane. */
  waiting(name: string): number {
    return this.lanes.get(name)?.waiting.size ?? 0;
  }

  private lane(name: string): Lane {
    const known = this.lanes.get(name);
    if (known) return known;
    const lane = { taken: 0, waiting: new FairQueue<string>(MAX_WAITING_PER_TENANT) };
    this.lanes.set(name, lane);
    return lane;
  }
}

/** What a worker does with a job: ask a vendor for something, or how it stands. */
type LaneKind = 'submit' | 'poll';

interface Lane {
  taken: number;
  /** Ids of jobs, by tenant. */
  readonly waiting: FairQueue<string>;
}
