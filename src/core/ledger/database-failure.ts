import pg from 'pg';
import type { SettleEntry } from './ledger-entry.js';
import { totalOf } from './pricing.js';
import { LOCK_NOT_AVAILABLE } from '../../platform/database/database-outage.js';
import { messageOf } from '../../platform/errors/thrown.js';

// Cardinality, data, integrity and program limits. Everything else, such as missing privileges or a
// full disk, is for the operator to fix and may be temporary.
const DATA_CLASSES = new Set(['21', '22', '23', '54']);

const CONFLICT_CLASS = '40';

/**
 * Effect of a failed transaction on its entries: `data`: one of them cannot be stored; `conflict`: a
 * new transaction will work; `locked`: another session holds needed rows for too long; `unavailable`:
 * the database cannot accept it now.
 */
export type FailureKind = 'data' | 'conflict' | 'locked' | 'unavailable';

/** @param error anything thrown by a statement or by the encoding of its values */
export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof pg.DatabaseError) {
    const errorClass = error.code?.slice(0, 2) ?? '';
    if (DATA_CLASSES.has(errorClass)) return 'data';
    if (error.code === LOCK_NOT_AVAILABLE) return 'locked';
    return errorClass === CONFLICT_CLASS ? 'conflict' : 'unavailable';
  }
  // A value that cannot be encoded (an invalid date, a string beyond the engine's limit).
  return error instanceof RangeError || error instanceof TypeError ? 'data' : 'unavailable';
}

/**
 * Returns whether an error during a commit proves that nothing was committed. A lost connection or an
 * administrator's shutdown proves nothing.
 */
export function provesRollback(error: unknown): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  const errorClass = error.code?.slice(0, 2);
  return errorClass !== undefined && errorClass !== '57' && errorClass !== '08';
}

/** Describes an error for the log. Only codes, since PostgreSQL's messages may quote row values. */
export function describeError(error: unknown): string {
  if (error instanceof pg.DatabaseError) {
    const constraint = error.constraint ? `, constraint ${error.constraint}` : '';
    return `SQLSTATE ${error.code ?? 'unknown'}${constraint}`;
  }
  if (error instanceof AggregateError) return error.errors.map(describeError).join('; ');
  return messageOf(error);
}

/** Describes a settlement that cannot be stored. Work with a required record is settled later. */
export function describeLoss({ charge, record }: Pick<SettleEntry, 'charge' | 'record'>): string {
  const credits = `charge of ${totalOf(charge)} credits`;
  return record?.required ? `${credits} postponed` : `${credits} lost`;
}
