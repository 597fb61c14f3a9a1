import { Injectable } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { DestinationRepository, type DestinationChoice } from './destination.repository.js';

/** Entries older than this are refreshed in the background, so that busy tenants stay cached. */
const REFRESH_AFTER_MS = 800;

/** Caches each tenant's enabled destinations for less than a second. */
@Injectable()
export class DestinationDirectory {
  private readonly tenants: FreshDirectory<readonly DestinationChoice[]>;

  constructor(repository: DestinationRepository) {
    this.tenants = new FreshDirectory<readonly DestinationChoice[]>({
      read: (tenantIds) => repository.findChoices(tenantIds),
      refreshAfterMs: REFRESH_AFTER_MS,
    });
  }

  /** Returns the cached destinations. On a miss, loads them for the next caller. */
  peek(tenantId: string): readonly DestinationChoice[] | undefined {
    const known = this.of(tenantId);
    if (!(known instanceof Promise)) return known;
    // Callers that await the lookup get the error.
    known.catch(() => undefined);
    return undefined;
  }

  /** Returns the last known destinations, however old; none when never loaded. */
  lastKnown(tenantId: string): readonly DestinationChoice[] {
    return this.tenants.lastKnown(tenantId) ?? [];
  }

  /** Returns the current destinations, synchronously when cached. */
  of(tenantId: string): readonly DestinationChoice[] | Promise<readonly DestinationChoice[]> {
    const known = this.tenants.get(tenantId);
    return known instanceof Promise ? known.then((read) => read ?? []) : known;
  }

  /** Must be called after a change is committed, so that the next request sees it. */
  forget(tenantId: string): void {
    this.tenants.forget(tenantId);
  }
}
