import pg from 'pg';
import { DatabaseUnavailableError, GatewayError, InternalError } from '../errors/gateway-errors.js';
import { messageOf } from '../errors/thrown.js';

/** The session, database or server rejects writes, as a standby does. */
export const READ_ONLY = '25006';
/** The database's disk is full. */
export const DISK_FULL = '53100';
/** Another transaction held a lock for longer than the session waits. */
export const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Classes of errors that a later attempt may not meet: connections, resources, operator
 * intervention, system errors, and transactions that lost against others.
 */
const TRANSIENT_CLASSES = new Set(['08', '40', '53', '57', '58']);
/** Further transient errors; 25P03 is a transaction that was left open too long. */
const TRANSIENT_CODES = new Set([READ_ONLY, '25P03', LOCK_NOT_AVAILABLE]);

/** The driver's messages for lost connections; its own errors have no code. */
const LOST =
  /^(?:Connection terminated|timeout exceeded when trying to connect$|timeout expired$|Query read timeout$|Client (?:has encountered a connection error|was closed) and is not queryable$)/;

/** Socket errors of database connections, which look like those of any other socket. */
const connectionErrors = new WeakSet<object>();

/** Records an error of a database connection, whatever it says. */
export function noteConnectionError(error: unknown): void {
  if (typeof error === 'object' && error !== null) connectionErrors.add(error);
}

/** Returns whether the database did not answer, or not in time. */
function isLostConnection(thrown: unknown): boolean {
  const error = driverErrorOf(thrown);
  if (typeof error === 'object' && error !== null && connectionErrors.has(error)) return true;
  return !(error instanceof pg.DatabaseError) && LOST.test(messageOf(error));
}

/** Returns whether the session ended, on its own or by the server; a new one may succeed. */
export function isLostSession(thrown: unknown): boolean {
  return isLostConnection(thrown) || (sqlStateOf(thrown) ?? '').startsWith('57P');
}

/**
 * Converts anything thrown to the caller's error. Only this function separates a database outage,
 * a 503 that a retry may get past, from a bug, which is a 500.
 */
export function gatewayErrorOf(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const options = { cause: thrown };
  return isOutage(thrown) ? new DatabaseUnavailableError(options) : new InternalError(options);
}

function isOutage(thrown: unknown): boolean {
  if (isLostConnection(thrown)) return true;
  const code = sqlStateOf(thrown) ?? '';
  return TRANSIENT_CODES.has(code) || TRANSIENT_CLASSES.has(code.slice(0, 2));
}

/** Returns PostgreSQL's error code; undefined for other errors. */
export function sqlStateOf(thrown: unknown): string | undefined {
  const error = driverErrorOf(thrown);
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** Returns the reason in parentheses for a log line, or '' without an error. Omits PostgreSQL's message, which may quote a row. */
export function reasonOf(error: unknown): string {
  if (error === undefined) return '';
  const code = sqlStateOf(error);
  return code === undefined ? ` (${messageOf(error)})` : ` (SQLSTATE ${code})`;
}

/** Unwraps the driver's error, which repositories wrap in one of their own. */
function driverErrorOf(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'driverError' in thrown
    ? thrown.driverError
    : thrown;
}
