import type { UpstreamCall } from '../../upstream.js';
import { encodeMessagesRelay } from './encode-messages-relay.js';
import { encodeMessagesRequest } from './encode-messages-request.js';
import type { MessagesVendor } from './messages-vendor.js';

/** What vendors of this dialect spell differently around the body. */
export interface MessagesEnvelope {
  /** The model's name in the body; undefined where the vendor has it in the address. */
  model: string | undefined;
  /** Members besides the dialect's own, as JSON. */
  adding?: Readonly<Record<string, string>>;
}

export interface EncodedMessagesCall {
  body: Buffer;
  /** The tool whose arguments are the answer's text, if any. */
  jsonTool: string | undefined;
}

/**
 * The body of a call: the caller's own bytes where it speaks this dialect, else a translation.
 *
 * @throws UpstreamError as `encodeMessagesRequest` does
 */
export function encodeMessagesCall(
  call: Pick<UpstreamCall, 'request' | 'maxOutputTokens'>,
  vendor: MessagesVendor,
  { model, adding = {} }: MessagesEnvelope,
): EncodedMessagesCall {
  const { request } = call;
  if (request.dialect === 'messages') {
    const { sealMaker } = vendor;
    const body = encodeMessagesRelay(request, { upstreamModel: model, sealMaker, adding });
    return { body, jsonTool: undefined };
  }
  const { body, jsonTool } = encodeMessagesRequest(call, vendor);
  const head: Record<string, unknown> = { ...(model !== undefined && { model }) };
  for (const [key, json] of Object.entries(adding)) head[key] = JSON.parse(json);
  if (request.stream) head.stream = true;
  return { body: Buffer.from(JSON.stringify({ ...head, ...body })), jsonTool };
}
