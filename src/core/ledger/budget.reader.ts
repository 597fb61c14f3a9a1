import { Injectable } from '@nestjs/common';
import type { BudgetPeriod, LimitScope } from '../../canonical/limits.js';
import { Database } from '../../platform/database/database.js';
import { toStoredText } from '../../platform/database/stored-text.js';
import { READ_USE, type UseRow } from './budget-statements.js';

/** What somebody with limits has used, in credits. */
export interface BudgetUse extends Readonly<Record<BudgetPeriod, number>> {
  /** The moment by which the periods are the current ones. */
  readonly now: Date;
  /** Set aside for open requests. */
  readonly held: number;
  /** How many are open. */
  readonly requests: number;
}

/** What somebody has used who has asked for nothing yet. */
export const UNUSED = { hour: 0, day: 0, week: 0, month: 0, total: 0, held: 0, requests: 0 };

/** Reads what is used of budgets, without keeping any request waiting. */
@Injectable()
export class BudgetReader {
  constructor(private readonly database: Database) {}

  /** Of somebody without budgets nothing is counted. @returns one for each, in their order */
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
