import pg from 'pg';

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
