import { InvalidRequestError } from '../errors/gateway-errors.js';

/**
 * The value, which has to be a string.
 *
 * @param path dotted path of the field, as `messages.0.content`
 * @throws InvalidRequestError naming the path
 */
export function requireString(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw new InvalidRequestError(path, `\`${path}\` must be a string.`);
}
