import pg from 'pg';

/**
 * What a failed transaction means for the entries in it: `data` one of them can't be stored;
 * `conflict` it will work in a new transaction; `unavailable` the database can't take it now.
 */
export type FailureKind = 'data' | 'conflict' | 'unavailable';

// Cardinality, data, integrity and program limits. Everything else that PostgreSQL may say, a lack
// of rights or of disk space included, is a matter of the operator and may be over in a while.
const DATA_CLASSES = new Set(['21', '22', '23', '54']);
const CONFLICT_CLASS = '40';

export function classifyFailure(error: unknown): FailureKind {
  if (error instanceof pg.DatabaseError) {
    const errorClass = error.code?.slice(0, 2) ?? '';
    if (DATA_CLASSES.has(errorClass)) return 'data';
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
