import pg from 'pg';

/** A PostgreSQL error. @param code its SQLSTATE */
export function databaseError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('a message that may quote a row', 0, 'error');
  error.code = code;
  return error;
}
