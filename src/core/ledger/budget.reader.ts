import { Injectable } from '@nestjs/common';
import type { BudgetPeriod, LimitScope } from '../../canonical/limits.js';
import { Database } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import { READ_USE, type UseRow } from './budget-statements.js';

/** A limited subject's usage in credits. */
export interface BudgetUse extends Readonly<Record<BudgetPeriod, number>> {
  /** Time that determines the current periods. */
  readonly now: Date;
  /** Reserved for open requests. */
  readonly held: number;
  /** Number of open requests. */
  readonly requests: number;
}

/** Usage of a subject without requests. */
export const UNUSED = { hour: 0, day: 0, week: 0, month: 0, total: 0, held: 0, requests: 0 };

/** Reads budget usage without delaying requests. */
@Injectable()
export class BudgetReader {
  constructor(private readonly database: Database) {}

  /** Returns the usage of each subject, in order. Subjects without budgets have none. */
  async useOf(
    tenantId: string,
    subjects: readonly { readonly scope: LimitScope; readonly id: string }[],
  ): Promise<BudgetUse[]> {
    if (subjects.length === 0) return [];
    const named = subjects.map(({ scope, id }) => [scope, toStoredText(id)] as const);
    const { rows } = await this.database.query<UseRow>(READ_USE, [
      named.map(() => tenantId),
      named.map(([scope]) => scope),
      named.map(([, id]) => id),
    ]);
    const uses = new Map(rows.map((row) => [`${row.scope} ${row.subject}`, row]));
    return named.map(([scope, id]) => uses.get(`${scope} ${id}`)!);
  }
}
