import { Injectable } from '@nestjs/common';
import { limitedSubject, type LimitedSubject, type Limits } from '../../canonical/limits.js';
import { Database } from '../../platform/database/database.js';
import { FreshDirectory } from '../../platform/database/fresh-directory.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import type { Caller } from './caller.js';

/** Length of a UUID. */
const TENANT_LENGTH = 36;

/** An end user's own limits; null is cached as well. */
interface OwnLimits {
  readonly limits: Limits | null;
}

/** Finds the limits that apply to a request: those of its key, its tenant and the end user it names. */
@Injectable()
export class EndUserLimits {
  /** By tenant id followed by the end user's name. */
  private readonly directory: FreshDirectory<OwnLimits>;

  constructor(database: Database) {
    this.directory = new FreshDirectory<OwnLimits>({
      read: async (ids) => {
        const { rows } = await database.lookUps.query<{ id: string; limits: Limits | null }>(
          `SELECT tenant_id || end_user AS id, limits FROM end_user_limits
            WHERE (tenant_id, end_user) IN (SELECT * FROM unnest($1::uuid[], $2::text[]))`,
          [ids.map((id) => id.slice(0, TENANT_LENGTH)), ids.map((id) => id.slice(TENANT_LENGTH))],
        );
        const known = new Map(rows.map(({ id, limits }) => [id, limits]));
        return new Map(ids.map((id) => [id, { limits: known.get(id) ?? null }]));
      },
    });
  }

  /** Returns undefined when nothing is limited. Returns known results without a promise. */
  subjectsOf(
    { tenantId, limits }: Pick<Caller, 'tenantId' | 'limits'>,
    endUser: string | undefined,
  ): Subjects | Promise<Subjects> {
    if (!limits) return undefined;
    const { subjects, endUsers } = limits;
    if (!endUsers || endUser === undefined) return someOf(subjects);
    const withThose = (own: OwnLimits | undefined): Subjects => {
      const subject = limitedSubject('end_user', endUser, [own?.limits ?? endUsers.each]);
      return someOf(subject ? [subject, ...subjects] : subjects);
    };
    if (!endUsers.areSome) return withThose(undefined);
    const own = this.directory.get(tenantId + toStoredText(endUser));
    return own instanceof Promise ? own.then(withThose) : withThose(own);
  }

  /** Drops changed limits from the cache. Call it after the commit. */
  forget(tenantId: string, endUser: string): void {
    this.directory.forget(tenantId + toStoredText(endUser));
  }
}

type Subjects = readonly LimitedSubject[] | undefined;

function someOf(subjects: readonly LimitedSubject[]): Subjects {
  return subjects.length > 0 ? subjects : undefined;
}
