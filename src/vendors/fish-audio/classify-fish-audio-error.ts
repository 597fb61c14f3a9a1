import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../../platform/http/json-body.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import type { UpstreamError } from '../upstream-error.js';

/** Names of fields here, by the vendor's. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'input'],
  ['reference_id', 'voice'],
  ['format', 'response_format'],
  ['prosody', 'speed'],
  ['audio', 'file'],
]);

/**
 * Whose fault a failed answer is. The vendor writes `{status, message}`, and of fields that it refuses
 * a list with each one's place and problem.
 */
export function classifyFishAudioError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const [first] = Array.isArray(body) ? (body as unknown[]) : [];
  if (!isJsonObject(first)) return classifyChatError(status, headers, body);
  const place: unknown[] = Array.isArray(first.loc) ? first.loc : [];
  const field = place.find((step) => typeof step === 'string' && step !== 'body');
  return classifyChatError(status, headers, {
    message: first.msg,
    param: FIELDS.get(field) ?? field,
  });
}
