import type { Database } from '../database/database.js';
import type { TakenDelivery } from './delivery-handler.js';

/**
 * A table whose rows are deliveries, with the columns of `webhook_deliveries`. Each transition is a compare-and-set,
 * so that any number of workers may try.
 */
export abstract class DeliveryRows {
  constructor(
    protected readonly database: Database,
    private readonly table: string,
  ) {}

  /** Returns whether the attempt was still the latest one. */
  async finish(
    { id, attempts }: TakenDelivery,
    state: 'delivered' | 'dropped',
    lastError: string | null,
  ): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `UPDATE ${this.table} SET state = $3, last_error = $4, finished_at = now()
        WHERE id = $1 AND attempts = $2 AND state = 'pending'`,
      [id, attempts, state, lastError],
    );
    return rowCount === 1;
  }

  /** Returns whether the attempt was still the latest one. */
  async retryLater(
    { id, attempts }: TakenDelivery,
    delayMs: number,
    lastError: string,
  ): Promise<boolean> {
    const { rowCount } = await this.database.query(
      `UPDATE ${this.table}
          SET next_attempt_at = ${later('$3')}, woken_at = ${later('$3')}, last_error = $4
        WHERE id = $1 AND attempts = $2 AND state = 'pending'`,
      [id, attempts, delayMs, lastError],
    );
    return rowCount === 1;
  }

  /** Makes deliveries of a stopping process due at once; their attempts do not count. */
  async release(taken: readonly TakenDelivery[]): Promise<void> {
    await this.database.query(
      `UPDATE ${this.table} delivery
          SET next_attempt_at = now(), woken_at = now(), attempts = delivery.attempts - 1
         FROM unnest($1::uuid[], $2::int[]) AS taken (id, attempts)
        WHERE delivery.id = taken.id AND delivery.attempts = taken.attempts AND state = 'pending'`,
      [taken.map(({ id }) => id), taken.map(({ attempts }) => attempts)],
    );
  }

  /** Returns an SQL condition: whether `wakeForgotten` would find any. */
  areForgotten(forgottenAfterMs: number): string {
    return `EXISTS (SELECT FROM ${this.table} WHERE ${isForgotten(forgottenAfterMs)})`;
  }

  /** Returns due deliveries that no worker was woken for recently, the longest waiting first. */
  async wakeForgotten(forgottenAfterMs: number, limit: number): Promise<string[]> {
    const { rows } = await this.database.query<{ id: string }>(
      `UPDATE ${this.table} SET woken_at = now()
        WHERE id IN (
          SELECT id FROM ${this.table}
           WHERE ${isForgotten(forgottenAfterMs)}
           ORDER BY woken_at LIMIT $1 FOR UPDATE SKIP LOCKED
        )
        RETURNING id`,
      [limit],
    );
    return rows.map(({ id }) => id);
  }
}

/** Uses the database's clock: those of instances may differ. */
export function later(parameter: string): string {
  return `now() + ${parameter} * interval '1 millisecond'`;
}

function isForgotten(afterMs: number): string {
  return `state = 'pending' AND woken_at <= now() - ${afterMs} * interval '1 millisecond' AND next_attempt_at <= now()`;
}
