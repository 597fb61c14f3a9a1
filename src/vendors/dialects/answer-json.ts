import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { unreadable } from '../upstream-error.js';

/** No answer of any model comes near; a larger count is a broken one. */
const MAX_TOKENS = 1_000_000_000;

/**
 * The JSON object that a vendor sent.
 *
 * @param what what it should be, for the log: `an answer`, `a chunk`
 * @throws UpstreamError `unreadable` for anything else
 */
export function parseChatObject(text: string, what: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(`${what} that is not JSON: ${(error as Error).name}`);
  }
  if (isJsonObject(value)) return value;
  throw unreadable(`${what} that is no JSON object`);
}

/** A vendor's count of tokens, or of what is billed like them; undefined for nonsense. */
export function readTokenCount(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS
    ? (value as number)
    : undefined;
}
