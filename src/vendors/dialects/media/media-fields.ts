import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamError } from '../../upstream-error.js';
import { classifyChatError } from '../chat/classify-chat-error.js';
import { GATEWAY_FIELDS } from '../../../canonical/routing-fields.js';

/** Fields of a request for media that are the gateway's own, or that are read into the canonical form. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  ...GATEWAY_FIELDS,
  'metadata',
  'webhook_url',
  'prompt',
  'input',
  // Whether the caller gets files or addresses of them, which is the gateway's affair.
  'response_format',
  'stream',
]);

/** The fields that are meant for the vendor, in the caller's words and order. */
export function vendorFields(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).filter(([name, field]) => !OWN_FIELDS.has(name) && field != null);
}

/** Names of the vendor's fields that are none of the `known` ones. */
export function unknownFields(
  value: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): string[] {
  return vendorFields(value)
    .map(([name]) => name)
    .filter((name) => !known.has(name));
}

/**
 * Whose fault a failed answer in OpenAI's error shape is, of a call for media. The vendor's filter
 * refuses a prompt with status 400, its message is the caller's to see.
 */
export function classifyMediaError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const error = classifyChatError(status, headers, body);
  // A filter's offence is reported there as the conversation's, of which there is none here.
  if (error.param !== 'messages') return error;
  const { failure, message, retryAfterMs, accepted } = error;
  return new UpstreamError({ failure, message, status, retryAfterMs, accepted, param: 'prompt' });
}
