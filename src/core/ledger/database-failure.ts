import pg from 'pg';
import type { SettleEntry } from './ledger-entry.js';
import { totalOf } from './pricing.js';
import { LOCK_NOT_AVAILABLE } from '../../platform/database/database-outage.js';
import { messageOf } from '../../platform/errors/thrown.js';

// Cardinality, data, integrity and program limits. Everything else that PostgreSQL may say, a lack
// of rights or of disk space included, is a matter of the operator and may be over in a while.
const DATA_CLASSES = new Set(['21', '22', '23', '54']);

const CONFLICT_CLASS = '40';

/**
 * What a failed transaction means for the entries in it: `data` one of them can't be stored;
 * `conflict` it will work in a new transaction; `locked` somebody has rows that some of them need, for
 * longer than that may take; `unavailable` the database can't take it now.
 */
export type FailureKind = 'data' | 'conflict' | 'locked' | 'unavailable';

/** @param error whatever a statement or the writing of its values threw */
export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof pg.DatabaseError) {
    const errorClass = error.code?.slice(0, 2) ?? '';
    if (DATA_CLASSES.has(errorClass)) return 'data';
    if (error.code === LOCK_NOT_AVAILABLE) return 'locked';
    return errorClass === CONFLICT_CLASS ? 'conflict' : 'unavailable';
  }
  // A value that can't even be written down (an invalid date, a string beyond the engine's limit).
  return error instanceof RangeError || error instanceof TypeError ? 'data' : 'unavailable';
}

/**
 * Whether an error that came while a commit was under way proves that nothing was committed. Losing
 * the connection, or an administrator's shutdown, proves nothing.
 */
export function provesRollback(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  const errorClass = error.code?.slice(0, 2);
  return errorClass !== undefined && errorClass !== '57' && errorClass !== '08';
}

/**
 * An error for the log. PostgreSQL's own messages may quote the values of a row, which belong in no
 * log, so only its codes are told.
 */
export function describeError(error: unknown): string {
  if (error instanceof pg.DatabaseError) {
    const constraint = error.constraint ? `, constraint ${error.constraint}` : '';
    return `SQLSTATE ${error.code ?? 'unknown'}${constraint}`;
  }
  if (error instanceof AggregateError) return error.errors.map(describeError).join('; ');
  return messageOf(error);
}

/** What it means that a settlement is given up. Work whose row must end with it stays as it is. */
export function describeLoss({ charge, record }: Pick<SettleEntry, 'charge' | 'record'>): string {
  const credits = `A charge of ${totalOf(charge)} credits`;
  return record?.required
    ? `${credits} is not made for now, as its work goes on`
    : `${credits} is lost`;
}
