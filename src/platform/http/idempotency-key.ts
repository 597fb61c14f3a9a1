import type { IncomingHttpHeaders } from 'node:http';
import { InvalidRequestError } from '../errors/gateway-errors.js';

const MAX_LENGTH = 255;

/**
 * Returns the key that identifies repeated requests; undefined without one.
 *
 * @throws InvalidRequestError (`idempotency-key`)
 */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key !== '' && key.length <= MAX_LENGTH) return key;
  throw new InvalidRequestError(
    'idempotency-key',
    `\`Idempotency-Key\` must be a text of 1 to ${MAX_LENGTH} characters.`,
  );
}
