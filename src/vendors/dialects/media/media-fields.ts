import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamError } from '../../upstream-error.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';

/** Media request fields of the gateway itself, or already parsed into the canonical form. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  ...GATEWAY_FIELDS,
  'metadata',
  'webhook_url',
  'prompt',
  'input',
  // Selects files or URLs for the caller, which the gateway handles.
  'response_format',
  'stream',
]);

/** Returns the fields meant for the vendor, in the caller's words and order. */
export function vendorFields(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).filter(([name, field]) => !OWN_FIELDS.has(name) && field != null);
}

/** Returns the names of the vendor's fields that are not `known`. */
export function unknownFields(
  value: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): string[] {
  return vendorFields(value)
    .map(([name]) => name)
    .filter((name) => !known.has(name));
}

/**
 * Classifies a failed media call in OpenAI's error format. The vendor's content filter rejects a prompt
 * with status 400, and its message is shown to the caller.
 */
export function classifyMediaError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const error = classifyChatError(status, headers, body);
  // The filter reports `messages` as the field, which media requests do not have.
  if (error.param !== 'messages') return error;
  const { failure, message, retryAfterMs, accepted } = error;
  return new UpstreamError({ failure, message, status, retryAfterMs, accepted, param: 'prompt' });
}
