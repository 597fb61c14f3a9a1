import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable } from '../../unreadable.js';
import { classifyInlineMessagesError } from './classify-messages-error.js';

/**
 * A vendor's JSON object.
 *
 * @param what what it is, for the log
 * @throws UpstreamError `unreadable` for anything else, or as the vendor's own error says
 */
export function parseMessagesJson(text: string, what: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(`${what} that is not JSON: ${(error as Error).name}`);
  }
  if (!isJsonObject(value)) throw unreadable(`${what} that is no JSON object`);
  if (value.type === 'error' || isJsonObject(value.error)) throw classifyInlineMessagesError(value);
  return value;
}
