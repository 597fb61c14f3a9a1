import { Injectable } from '@nestjs/common';
import { toGuardrail, type Guardrail } from './guardrail.js';
import { GuardrailRepository, type GuardrailHead } from './guardrail.repository.js';

/** Less than the second within which a change elsewhere has to hold here. */
const FRESH_MS = 900;
/** From this age on a tenant that is in use is read again in passing, so that nobody waits. */
const REFRESH_AFTER_MS = 400;
const MAX_ENTRIES = 20_000;
/** Tenants read by one query; the rest waits for the next. */
const MAX_BATCH = 500;

interface Entry {
  readonly guardrails: readonly Guardrail[];
  readonly revisions: ReadonlyMap<string, { revision: number; guardrail: Guardrail }>;
  readonly readAtMs: number;
}

interface PendingRead {
  readonly promise: Promise<readonly Guardrail[]>;
  resolve(guardrails: readonly Guardrail[]): void;
  reject(error: unknown): void;
}

const NONE: readonly Guardrail[] = [];

/**
 * The guardrails of each tenant that are on. They are remembered for a moment, and rules are read
 * and compiled again only after a change. Tenants that are asked for together share a query, one
 * query at a time.
 */
@Injectable()
export class GuardrailDirectory {
  /** By tenant, in the order in which they were read. */
  private readonly entries = new Map<string, Entry>();
  private readonly pending = new Map<string, PendingRead>();
  private queue: string[] = [];
  private isReading = false;
  private forgottenWhileReading = new Set<string>();

  constructor(private readonly repository: GuardrailRepository) {}

  /** Answers at once, without a promise, where the tenant is known. */
  of(tenantId: string): readonly Guardrail[] | Promise<readonly Guardrail[]> {
    const entry = this.entries.get(tenantId);
    if (!entry) return this.read(tenantId);
    const ageMs = performance.now() - entry.readAtMs;
    if (ageMs < REFRESH_AFTER_MS) return entry.guardrails;
    const read = this.read(tenantId);
    if (ageMs >= FRESH_MS) return read;
    // Whoever comes when the time is up is told of a failure.
    read.catch(() => undefined);
    return entry.guardrails;
  }

  /** To be called after a change is committed: the next request sees it. */
  forget(tenantId: string): void {
    // A query under way may have read the guardrails as they were before the change.
    if (this.isReading) this.forgottenWhileReading.add(tenantId);
    this.entries.delete(tenantId);
  }

  private read(tenantId: string): Promise<readonly Guardrail[]> {
    const known = this.pending.get(tenantId);
    if (known) return known.promise;
    const read = makePending();
    this.pending.set(tenantId, read);
    this.queue.push(tenantId);
    // A turn of the event loop later, so that requests that arrived together are read together.
    if (!this.isReading && this.queue.length === 1) setImmediate(() => void this.readQueued());
    return read.promise;
  }

  private async readQueued(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    while (this.queue.length > 0) {
      const batch = this.queue.splice(0, MAX_BATCH);
      this.forgottenWhileReading.clear();
      // What is read now may be as old as the moment the query was sent, so age counts from here.
      const readAtMs = performance.now();
      try {
        const entries = await this.readEntries(batch, readAtMs);
        this.settle(batch, entries);
      } catch (error) {
        for (const tenantId of batch) this.takePending(tenantId)?.reject(error);
      }
    }
    this.isReading = false;
  }

  private async readEntries(
    tenantIds: readonly string[],
    readAtMs: number,
  ): Promise<Map<string, Entry>> {
    const heads = await this.repository.findHeads(tenantIds);
    const known = (head: GuardrailHead): Guardrail | undefined => {
      const entry = this.entries.get(head.tenantId)?.revisions.get(head.id);
      return entry?.revision === head.revision ? entry.guardrail : undefined;
    };
    const changed = heads.filter((head) => !known(head)).map(({ id }) => id);
    const definitions = changed.length > 0 ? await this.repository.findDefinitions(changed) : [];
    const made = new Map(definitions.map((each) => [each.id, each]));

    const revisions = new Map(tenantIds.map((id) => [id, new Map() as MutableRevisions]));
    for (const head of heads) {
      const definition = made.get(head.id);
      const guardrail = definition ? toGuardrail(definition) : known(head);
      // One that was deleted between the two queries is gone.
      if (!guardrail) continue;
      const revision = definition?.revision ?? head.revision;
      revisions.get(head.tenantId)?.set(head.id, { revision, guardrail });
    }
    return new Map(
      [...revisions].map(([tenantId, ofTenant]) => {
        const guardrails = [...ofTenant.values()].map(({ guardrail }) => guardrail);
        const entry = { guardrails: guardrails.length > 0 ? guardrails : NONE, readAtMs };
        return [tenantId, { ...entry, revisions: ofTenant }];
      }),
    );
  }

  private settle(batch: readonly string[], entries: ReadonlyMap<string, Entry>): void {
    for (const tenantId of batch) {
      if (this.forgottenWhileReading.has(tenantId)) {
        this.queue.push(tenantId);
        continue;
      }
      const entry = entries.get(tenantId)!;
      this.remember(tenantId, entry);
      this.takePending(tenantId)?.resolve(entry.guardrails);
    }
  }

  private remember(tenantId: string, entry: Entry): void {
    this.entries.delete(tenantId);
    this.entries.set(tenantId, entry);
    if (this.entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.entries.keys();
    if (oldest !== undefined) this.entries.delete(oldest);
  }

  private takePending(tenantId: string): PendingRead | undefined {
    const read = this.pending.get(tenantId);
    this.pending.delete(tenantId);
    return read;
  }
}

type MutableRevisions = Map<string, { revision: number; guardrail: Guardrail }>;

function makePending(): PendingRead {
  const callbacks: Partial<PendingRead> = {};
  const promise = new Promise<readonly Guardrail[]>((resolve, reject) => {
    callbacks.resolve = resolve;
    callbacks.reject = reject;
  });
  return { promise, ...callbacks } as PendingRead;
}
