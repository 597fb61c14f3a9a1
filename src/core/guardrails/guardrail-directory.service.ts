import { Injectable } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { toGuardrail, type Guardrail } from './guardrail.js';
import { GuardrailRepository, type GuardrailHead } from './guardrail.repository.js';
import { PatternScanPool } from './pattern-scan.pool.js';

/** Age at which an active tenant's guardrails are refreshed in the background. */
const REFRESH_AFTER_MS = 400;

type Revisions = ReadonlyMap<string, { revision: number; guardrail: Guardrail }>;
type MutableRevisions = Map<string, { revision: number; guardrail: Guardrail }>;

interface TenantGuardrails {
  readonly guardrails: readonly Guardrail[];
  readonly revisions: Revisions;
}

const NONE: readonly Guardrail[] = [];

/**
 * Caches each tenant's enabled guardrails for less than a second. Reads and compiles rules only
 * after a change.
 */
@Injectable()
export class GuardrailDirectory {
  private readonly tenants: FreshDirectory<TenantGuardrails>;

  constructor(
    private readonly repository: GuardrailRepository,
    private readonly pool: PatternScanPool,
  ) {
    this.tenants = new FreshDirectory<TenantGuardrails>({
      read: (tenantIds, known) => this.read(tenantIds, known),
      refreshAfterMs: REFRESH_AFTER_MS,
    });
  }

  /** Returns the guardrails, without a promise if the tenant is cached. */
  of(tenantId: string): readonly Guardrail[] | Promise<readonly Guardrail[]> {
    const known = this.tenants.get(tenantId);
    // Every requested tenant has an entry, possibly empty.
    return known instanceof Promise ? known.then((read) => read!.guardrails) : known.guardrails;
  }

  /** Call after committing a change: the next request and running searches apply it. */
  forget(tenantId: string): void {
    this.tenants.forget(tenantId);
    if (!this.pool.isBusyFor(tenantId)) return;
    // Reloading ends searches for removed guardrails; if it fails, they run to their end.
    Promise.resolve(this.of(tenantId)).catch(() => undefined);
  }

  private async read(
    tenantIds: readonly string[],
    remembered: (tenantId: string) => TenantGuardrails | undefined,
  ): Promise<Map<string, TenantGuardrails>> {
    const heads = await this.repository.findHeads(tenantIds);
    const known = (head: GuardrailHead): Guardrail | undefined => {
      const entry = remembered(head.tenantId)?.revisions.get(head.id);
      return entry?.revision === head.revision ? entry.guardrail : undefined;
    };
    const changed = heads.filter((head) => !known(head)).map(({ id }) => id);
    const definitions = changed.length > 0 ? await this.repository.findDefinitions(changed) : [];
    const made = new Map(definitions.map((each) => [each.id, each]));

    const revisions = new Map<string, MutableRevisions>();
    for (const id of tenantIds) revisions.set(id, new Map());
    for (const head of heads) {
      const definition = made.get(head.id);
      const guardrail = definition ? toGuardrail(definition) : known(head);
      // Deleted between the two queries.
      if (!guardrail) continue;
      const revision = definition?.revision ?? head.revision;
      revisions.get(head.tenantId)?.set(head.id, { revision, guardrail });
    }
    // Reads are sequential, so an entry missing here has been deleted.
    for (const [tenantId, ofTenant] of revisions) {
      this.pool.keepOnly(tenantId, new Set(ofTenant.keys()));
    }
    return new Map(
      [...revisions].map(([tenantId, ofTenant]) => {
        const guardrails = [...ofTenant.values()].map(({ guardrail }) => guardrail);
        const value = { guardrails: guardrails.length > 0 ? guardrails : NONE };
        return [tenantId, { ...value, revisions: ofTenant }];
      }),
    );
  }
}
