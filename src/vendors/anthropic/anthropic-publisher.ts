import { classifyGenerateContentError } from '../dialects/generate-content/classify-generate-content-error.js';
import { classifyMessagesError } from '../dialects/messages/classify-messages-error.js';
import { encodeMessagesCall } from '../dialects/messages/encode-messages-call.js';
import { droppedFromMessages } from '../dialects/messages/encode-messages-request.js';
import type { MessagesVendor } from '../dialects/messages/messages-vendor.js';
import { readMessagesResponse } from '../dialects/messages/read-messages-response.js';
import type { UpstreamCall } from '../upstream.js';
import { CLAUDE_SEAL_MAKER, claudeModelTraits } from './claude-model-traits.js';
import type { VertexPublisher } from '../vertex/vertex-publisher.js';

/** Vertex names the model in the address and the API's version in the body. */
const ENVELOPE = {
  model: undefined,
  adding: { anthropic_version: JSON.stringify('vertex-2023-10-16') },
};

/** Anthropic's models on Vertex, which speak the messages dialect there as well. */
export const ANTHROPIC_PUBLISHER: VertexPublisher = {
  name: 'anthropic',
  method: (stream) => (stream ? 'streamRawPredict' : 'rawPredict'),
  relays: (dialect) => dialect === 'messages',
  droppedParams(request, route) {
    if (request.dialect === 'messages') return [];
    const { maxOutputTokens } = route;
    return droppedFromMessages({ request, maxOutputTokens }, vendorOf(route));
  },
  prepare(call) {
    const { body, jsonTool } = encodeMessagesCall(call, vendorOf(call), ENVELOPE);
    const options = { sealMaker: CLAUDE_SEAL_MAKER, jsonTool };
    return {
      body,
      read: (response, describe) => readMessagesResponse(response, call, options, describe),
    };
  },
  // What stands before the models answers in Google's words, the models in their own.
  classifyError: (status, headers, body) =>
    isMessagesError(body)
      ? classifyMessagesError(status, headers, body)
      : classifyGenerateContentError(status, headers, body),
};

function isMessagesError(body: unknown): boolean {
  return (body as { type?: unknown } | null | undefined)?.type === 'error';
}

function vendorOf({ upstreamModel }: Pick<UpstreamCall, 'upstreamModel'>): MessagesVendor {
  return { sealMaker: CLAUDE_SEAL_MAKER, traits: claudeModelTraits(upstreamModel) };
}
