import type { UpstreamCall } from '../../upstream.js';
import { encodeMessagesRelay } from './encode-messages-relay.js';
import { encodeMessagesRequest } from './encode-messages-request.js';
import type { MessagesVendor } from './messages-vendor.js';

/** What only an answer has a use for; the counting endpoint refuses it. */
const ANSWER_FIELDS = [
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'service_tier',
  'container',
  'inference_geo',
] as const;

/**
 * The body that asks how many tokens a request's prompt has.
 *
 * @throws UpstreamError as `encodeMessagesRequest` does
 */
export function encodeMessagesCount(
  call: Pick<UpstreamCall, 'request' | 'maxOutputTokens' | 'upstreamModel'>,
  vendor: MessagesVendor,
): Buffer {
  const { request, upstreamModel } = call;
  if (request.dialect === 'messages') {
    const { sealMaker } = vendor;
    return encodeMessagesRelay(request, { upstreamModel, sealMaker, without: ANSWER_FIELDS });
  }
  const unwanted = new Set<string>(ANSWER_FIELDS);
  const body = Object.entries(encodeMessagesRequest(call, vendor).body);
  const counted = Object.fromEntries(body.filter(([field]) => !unwanted.has(field)));
  return Buffer.from(JSON.stringify({ model: upstreamModel, ...counted }));
}
