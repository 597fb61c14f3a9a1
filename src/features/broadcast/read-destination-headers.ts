import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { findHeaderProblem, isHeaderName } from '../../platform/outbound/destination.js';

/** What stands in place of a value when headers are shown. Sent back, it means: as before. */
export const MASK = '********';

/** Any run of asterisks is taken for it: what a form shows as hidden is no value. */
const MASKED = /^\*+$/;

const MAX_HEADERS = 20;
/** Of a name, as far as an error repeats it. */
const MAX_SHOWN = 128;

/** They belong to the delivery, beside those that belong to the connection. */
const OWN = new Set(['content-type', 'idempotency-key']);

/**
 * Reads the headers of a destination; names come out in lower case.
 *
 * @param before what the destination has, for values that come back masked
 * @throws InvalidRequestError naming the header at fault
 */
export function readDestinationHeaders(
  received: Readonly<Record<string, unknown>>,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const entries = Object.entries(received);
  if (entries.length > MAX_HEADERS) {
    throw new InvalidRequestError(
      'headers',
      `\`headers\` must hold at most ${MAX_HEADERS} headers.`,
    );
  }
  const headers = new Map<string, string>();
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    const shown = given.slice(0, MAX_SHOWN);
    if (!isHeaderName(given)) {
      throw new InvalidRequestError('headers', '`headers` holds a name that is no header name.');
    }
    const param = `headers.${shown}`;
    if (typeof value !== 'string') {
      throw new InvalidRequestError(param, `The value of \`${shown}\` must be a string.`);
    }
    const kept = Object.hasOwn(before, name) ? before[name] : undefined;
    const isMasked = MASKED.test(value);
    if (isMasked && kept === undefined) {
      throw new InvalidRequestError(
        param,
        `\`${shown}\` has no value that \`${MASK}\` could stand for; send the value itself.`,
      );
    }
    const meant = isMasked && kept !== undefined ? kept : value;
    const problem = OWN.has(name)
      ? 'is a header that the gateway sets itself'
      : findHeaderProblem(given, meant);
    if (problem !== undefined) throw new InvalidRequestError(param, `\`${shown}\` ${problem}.`);
    if (headers.has(name)) {
      throw new InvalidRequestError(param, `\`${shown}\` stands in \`headers\` more than once.`);
    }
    headers.set(name, meant);
  }
  return Object.fromEntries(headers);
}
