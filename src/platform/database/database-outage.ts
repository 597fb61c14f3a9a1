import pg from 'pg';
import { DatabaseUnavailableError, GatewayError, InternalError } from '../errors/gateway-errors.js';
import { messageOf } from '../errors/thrown.js';

/** Writes are refused: the session, the database or the server takes none, as a standby does. */
export const READ_ONLY = '25006';
/** The disk of the database has no room. */
export const DISK_FULL = '53100';
/** Others held a lock for longer than the session waits. */
export const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Connections, resources, the operator's hand, the system beneath; and transactions that lost against
 * others. All of them may be over when the request comes again.
 */
const PASSING_CLASSES = new Set(['08', '40', '53', '57', '58']);
/** Beside those: a transaction that was left open too long. */
const PASSING_CODES = new Set([READ_ONLY, '25P03', LOCK_NOT_AVAILABLE]);

/** What the driver says of connections that are lost; its own errors have no code. */
const LOST =
  /^(?:Connection terminated|timeout exceeded when trying to connect$|timeout expired$|Query read timeout$|Client (?:has encountered a connection error|was closed) and is not queryable$)/;

/** Errors of sockets to the database: they look like those of sockets to anybody. */
const ofSockets = new WeakSet<object>();

/** To be told of each error of a connection to the database, whatever it says. */
export function noteConnectionError(error: unknown): void {
  if (typeof error === 'object' && error !== null) ofSockets.add(error);
}

/** The database did not answer in time, or not at all. */
function isLostConnection(thrown: unknown): boolean {
  const error = driverErrorOf(thrown);
  if (typeof error === 'object' && error !== null && ofSockets.has(error)) return true;
  return !(error instanceof pg.DatabaseError) && LOST.test(messageOf(error));
}

/** The session is gone, by itself or by the server's hand; another may take its place. */
export function isLostSession(thrown: unknown): boolean {
  return isLostConnection(thrown) || (sqlStateOf(thrown) ?? '').startsWith('57P');
}

/**
 * What a caller is told of anything that was thrown. The one place that tells an outage of the database,
 * a 503 that another try may get over, from a defect, which is a 500.
 */
export function gatewayErrorOf(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  const options = { cause: thrown };
  return isOutage(thrown) ? new DatabaseUnavailableError(options) : new InternalError(options);
}

function isOutage(thrown: unknown): boolean {
  if (isLostConnection(thrown)) return true;
  const code = sqlStateOf(thrown) ?? '';
  return PASSING_CODES.has(code) || PASSING_CLASSES.has(code.slice(0, 2));
}

/** PostgreSQL's code for what went wrong; undefined where it said nothing. */
export function sqlStateOf(thrown: unknown): string | undefined {
  const error = driverErrorOf(thrown);
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

/** Why, in parentheses, for a line of the log; empty without an error. PostgreSQL's own words may quote a row. */
export function reasonOf(error: unknown): string {
  if (error === undefined) return '';
  const code = sqlStateOf(error);
  return code === undefined ? ` (${messageOf(error)})` : ` (SQLSTATE ${code})`;
}

/** Repositories put the driver's error into one of their own. */
function driverErrorOf(thrown: unknown): unknown {
  return typeof thrown === 'object' && thrown !== null && 'driverError' in thrown
    ? thrown.driverError
    : thrown;
}
