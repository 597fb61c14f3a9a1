import pg from 'pg';
import type { SettleEntry } from './ledger-entry.js';
import { totalOf } from './pricing.js';

/**
 * An error for the log. PostgreSQL's own messages may quote the values of a row, which belong in no
 * log, so only its codes are told.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof pg.DatabaseError) {
    const constraint = error.constraint ? `, constraint ${error.constraint}` : '';
    return `SQLSTATE ${error.code ?? 'unknown'}${constraint}`;
  }
  if (error instanceof AggregateError) return error.errors.map(describeFailure).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** What it means that a settlement is given up. Work whose row must end with it stays as it is. */
export function describeLoss({ charge, record }: Pick<SettleEntry, 'charge' | 'record'>): string {
  const credits = `A charge of ${totalOf(charge)} credits`;
  return record?.required
    ? `${credits} is not made for now, as its work goes on`
    : `${credits} is lost`;
}
