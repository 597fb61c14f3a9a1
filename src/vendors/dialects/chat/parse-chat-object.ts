import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable } from '../../unreadable.js';

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
