import { isJsonObject } from '../../../platform/http/json-body.js';
import { spliceMembers } from '../../../platform/http/top-level-members.js';
import type { UpstreamCall } from '../../upstream.js';
import type { OutputLimitField } from './encode-chat-prompt.js';
import { withoutNamedSeals } from './without-named-seals.js';

/**
 * Fields of the body that are the gateway's own or another gateway's, and mean nothing to a
 * vendor: `reasoning` goes out as `reasoning_effort`.
 */
const GATEWAY_FIELDS = [
  'models',
  'provider',
  'route',
  'input',
  'trace',
  'transforms',
  'plugins',
  'usage',
  'reasoning',
] as const;

/** What the body of a call depends on. */
export type ChatRelayCall = Pick<UpstreamCall, 'request' | 'upstreamModel' | 'ownOutputLimit'>;

/**
 * The body for a vendor that speaks the caller's own dialect: the received bytes with the
 * documented edits, everything else untouched and unread.
 */
export function encodeChatRequest(
  { request, upstreamModel, ownOutputLimit }: ChatRelayCall,
  outputLimitField: OutputLimitField,
): Buffer {
  const { bytes, members, value } = request.body;
  const edits = new Map<string, string | undefined>([['model', JSON.stringify(upstreamModel)]]);
  for (const field of GATEWAY_FIELDS) if (field in value) edits.set(field, undefined);

  if (isJsonObject(value.reasoning) && value.reasoning_effort == null) {
    const { effort } = value.reasoning;
    if (typeof effort === 'string') edits.set('reasoning_effort', JSON.stringify(effort));
  }
  if (ownOutputLimit !== undefined) edits.set(outputLimitField, String(ownOutputLimit));
  const messages = withoutNamedSeals(value.messages);
  if (messages) edits.set('messages', JSON.stringify(messages));
  // Nothing of a caller's is kept in the vendor account that all callers share.
  if (value.store != null) edits.set('store', 'false');
  if (request.stream) {
    const options = isJsonObject(value.stream_options) ? value.stream_options : {};
    edits.set('stream_options', JSON.stringify({ ...options, include_usage: true }));
  }
  return spliceMembers(bytes, members, edits);
}
