import { FairQueue } from '../../platform/queue/fair-queue.js';

/** More jobs of one tenant are not remembered here; their wake-ups come again. */
const MAX_WAITING_PER_TENANT = 1_000;

/** What a worker does with a job: send it to a vendor, or ask how it stands. */
type WorkKind = 'submit' | 'poll';

interface Slots {
  taken: number;
  /** Ids of jobs, by tenant. */
  readonly waiting: FairQueue<string>;
}

/**
 * Bounds how many jobs of one provider this process works on at once. Polls have slots of their own,
 * so that long submissions do not hold up results. Where all slots are taken, tenants take turns.
 */
export class JobLimiter {
  private readonly slots = new Map<string, Slots>();

  /** @param limit jobs at once, for each provider and kind of work */
  constructor(private readonly limit: number) {}

  /** What the slots of a provider's work of a kind are called. */
  key(provider: string, kind: WorkKind): string {
    return `${kind} ${provider}`;
  }

  /** True when the job has a slot; else it waits for one, and `release` gives its id. */
  acquire(key: string, tenantId: string, id: string): boolean {
    const slots = this.slotsOf(key);
    if (slots.taken < this.limit) {
      slots.taken++;
      slots.waiting.remove(tenantId, id);
      return true;
    }
    slots.waiting.add(tenantId, id);
    return false;
  }

  /** Gives a slot back. @returns the job that has it now; undefined: it is free */
  release(key: string): string | undefined {
    const slots = this.slotsOf(key);
    const next = slots.waiting.take();
    if (next === undefined) slots.taken--;
    if (slots.taken === 0) this.slots.delete(key);
    return next;
  }

  /** How many jobs wait for a slot. */
  waiting(key: string): number {
    return this.slots.get(key)?.waiting.size ?? 0;
  }

  private slotsOf(key: string): Slots {
    const known = this.slots.get(key);
    if (known) return known;
    const slots = { taken: 0, waiting: new FairQueue<string>(MAX_WAITING_PER_TENANT) };
    this.slots.set(key, slots);
    return slots;
  }
}
