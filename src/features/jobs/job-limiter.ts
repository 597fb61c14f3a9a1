import { FairQueue } from '../../platform/queue/fair-queue.js';

/** Beyond this bound a tenant's jobs are not queued here; the sweep wakes them again. */
const MAX_WAITING_PER_TENANT = 1_000;

/** Work on a job: submitting it to a vendor or polling its state. */
type WorkKind = 'submit' | 'poll';

interface Slots {
  taken: number;
  /** Job ids by tenant. */
  readonly waiting: FairQueue<string>;
}

/**
 * Limits concurrent work per provider in this process. Polls have separate slots, so that long
 * submissions do not delay results. Waiting tenants are scheduled fairly.
 */
export class JobLimiter {
  private readonly slots = new Map<string, Slots>();

  /** @param limit concurrent jobs for each provider and kind of work */
  constructor(private readonly limit: number) {}

  /** Returns the key of a provider's slots for a kind of work. */
  key(provider: string, kind: WorkKind): string {
    return `${kind} ${provider}`;
  }

  /** Returns true when the job got a slot. Otherwise it is queued, and `release` returns its id. */
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

  /** Frees a slot. @returns the job that received it; undefined when the queue is empty */
  release(key: string): string | undefined {
    const slots = this.slotsOf(key);
    const next = slots.waiting.take();
    if (next === undefined) slots.taken--;
    if (slots.taken === 0) this.slots.delete(key);
    return next;
  }

  /** Returns the number of queued jobs. */
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
