import { Injectable } from '@nestjs/common';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { DestinationRepository, type DestinationChoice } from './destination.repository.js';

/** Read anew in passing from this age on, so that busy tenants are always known. */
const REFRESH_AFTER_MS = 800;

/** The destinations of each tenant that are on. They are remembered for less than a second. */
@Injectable()
export class DestinationDirectory {
  private readonly tenants: FreshDirectory<readonly DestinationChoice[]>;

  constructor(repository: DestinationRepository) {
    this.tenants = new FreshDirectory({
      read: (tenantIds) => repository.findChoices(tenantIds),
      refreshAfterMs: REFRESH_AFTER_MS,
    });
  }

  /** What holds, if that is known right now; else it is read for the next who asks. */
  peek(tenantId: string): readonly DestinationChoice[] | undefined {
    const known = this.of(tenantId);
    if (!(known instanceof Promise)) return known;
    // Who really needs it is told of a failure.
    known.catch(() => undefined);
    return undefined;
  }

  /** What held when that was last read, however long ago; none when it never was. */
  lastKnown(tenantId: string): readonly DestinationChoice[] {
    return this.tenants.lastKnown(tenantId) ?? [];
  }

  /** What holds now, without a promise where it is known. */
  of(tenantId: string): readonly DestinationChoice[] | Promise<readonly DestinationChoice[]> {
    const known = this.tenants.get(tenantId);
    return known instanceof Promise ? known.then((read) => read ?? []) : known;
  }

  /** To be called after a change is committed: the next request sees it. */
  forget(tenantId: string): void {
    this.tenants.forget(tenantId);
  }
}
