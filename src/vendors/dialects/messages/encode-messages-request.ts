import type { CanonicalPrompt } from '../../../canonical/canonical-request.js';
import { fieldsSent, type PromptField } from '../../../canonical/prompt-field-table.js';
import { fieldName, unsupportedFields } from '../../../canonical/prompt-fields.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../upstream-error.js';
import type { UpstreamCall } from '../../upstream.js';
import {
  encodeThinking,
  type MessagesThinking,
  encodeSampling,
} from './encode-messages-thinking.js';
import { encodeTools, type MessagesTools } from './encode-messages-tools.js';
import { encodeTurns, endsWithPrefill } from './encode-messages-turns.js';
import { readThinkingBlock } from './thinking-blocks.js';
import type { MessagesVendor } from './messages-vendor.js';
import { createHash } from 'node:crypto';

/** Excludes e-mail addresses, phone numbers and long texts, which the vendor rejects. */
const OPAQUE = /^(?=.*[A-Za-z])[\w.:-]{1,128}$/;

const SUPPORTED = new Set(fieldsSent('messages'));

/** The parts of a call that its encoding depends on. */
type MessagesCall = Pick<UpstreamCall, 'request' | 'maxOutputTokens'>;

interface EncodedMessagesRequest {
  /** The body without `model` and `stream`, which vendors of this dialect place differently. */
  body: JsonObject;
  /** The tool whose arguments are the answer's text, if any. */
  jsonTool: string | undefined;
}

/**
 * Encodes a canonical request in the messages dialect.
 *
 * @throws UpstreamError `unsupported` for features that this vendor or model lacks, `caller` for invalid
 *   requests
 */
export function encodeMessagesRequest(
  call: MessagesCall,
  vendor: MessagesVendor,
): EncodedMessagesRequest {
  const { request } = call;
  if (request.choices > 1) {
    throw unsupported('n', 'This model returns one answer per request; set `n` to 1.');
  }
  const prompt = request.prompt();
  const { system, turns } = encodeTurns(prompt.messages, vendor.signatureIssuer);
  if (endsWithPrefill(turns) && !vendor.traits.prefill) {
    throw unsupported(
      'messages',
      'This model cannot continue an assistant message; end with a user message.',
    );
  }
  const { tools, thinking, sampling } = encodeControls(call, vendor);
  if (tools.jsonInstruction !== undefined) {
    system.push({ type: 'text', text: tools.jsonInstruction });
  }
  const outputConfig = {
    ...(thinking.effort !== undefined && { effort: thinking.effort }),
    ...(tools.format && { format: tools.format }),
  };
  const body: JsonObject = {
    max_tokens: call.maxOutputTokens,
    ...(system.length > 0 && { system }),
    messages: turns,
    ...(tools.tools.length > 0 && { tools: tools.tools }),
    ...(tools.toolChoice && { tool_choice: tools.toolChoice }),
    ...(thinking.thinking && { thinking: thinking.thinking }),
    ...(Object.keys(outputConfig).length > 0 && { output_config: outputConfig }),
    ...sampling.fields,
    ...(prompt.endUser !== undefined &&
      prompt.endUser !== '' && { metadata: { user_id: mapEndUser(prompt.endUser) } }),
  };
  return { body, jsonTool: tools.jsonTool };
}

/**
 * Lists the request fields that the vendor does not get, by the caller's names, valid in a header.
 *
 * @throws UpstreamError as `encodeMessagesRequest` does
 */
export function droppedFromMessages(call: MessagesCall, vendor: MessagesVendor): string[] {
  const { request } = call;
  const { tools, thinking, sampling } = encodeControls(call, vendor);
  const names = [
    ...unsupportedFields(request, SUPPORTED),
    ...sampling.dropped.map((field) => fieldName(request.dialect, field)),
    ...thinking.dropped,
    ...tools.dropped,
    ...droppedParts(request.prompt()),
  ];
  // Names invented by the caller may contain anything, in any number.
  const fit = names.map((name) => (/^[\w.-]{1,64}$/.test(name) ? name : 'unknown'));
  return [...new Set(fit)].slice(0, 50);
}

interface MessagesControls {
  tools: MessagesTools;
  thinking: MessagesThinking;
  sampling: ReturnType<typeof encodeSampling>;
}

function encodeControls(
  { request, maxOutputTokens }: MessagesCall,
  { traits, signatureIssuer }: MessagesVendor,
): MessagesControls {
  const prompt = request.prompt();
  const name = (field: PromptField): string => fieldName(request.dialect, field);
  const tools = encodeTools(prompt, traits, {
    toolChoice: name('toolChoice'),
    responseFormat: name('responseFormat'),
  });
  const thinking = encodeThinking(prompt.reasoning, traits, {
    name: name('reasoning'),
    maxTokens: maxOutputTokens,
    isForced: tools.isForced,
    lacksReasoning: lacksReasoning(prompt, signatureIssuer),
  });
  const sampling = encodeSampling(prompt.sampling, traits, thinking.isOn, name('stop'));
  return { tools, thinking, sampling };
}

/**
 * Returns whether the answer continues an assistant turn whose initial reasoning is missing: a message to
 * continue, or calls whose results have arrived. Callers drop reasoning, and other vendors' is removed.
 */
function lacksReasoning({ messages }: CanonicalPrompt, signatureIssuer: string): boolean {
  const spoken = messages.filter(({ role }) => role !== 'system');
  const last = spoken.findLastIndex(({ role }) => role === 'assistant');
  if (last === -1) return false;
  const since = spoken.slice(last + 1);
  if (since.length === 0) return true;
  if (!since.some(({ role }) => role === 'tool')) return false;
  // A turn spans any number of calls and results, and its reasoning comes first.
  const before = spoken.slice(0, last).findLastIndex(({ role }) => role === 'user');
  const turn = spoken.slice(before + 1).find(({ role }) => role === 'assistant');
  const [first] = turn?.parts ?? [];
  if (first?.type !== 'reasoning') return true;
  return readThinkingBlock(signatureIssuer, first.signature, first.text) === undefined;
}

/** Lists members of messages that the dialect does not support. */
function droppedParts({ messages }: CanonicalPrompt): string[] {
  const dropped: string[] = [];
  if (messages.some(({ name }) => name !== undefined)) dropped.push('messages.name');
  const hasDetail = messages.some(({ parts }) =>
    parts.some((part) => part.type === 'image' && (part.detail ?? 'auto') !== 'auto'),
  );
  if (hasDetail) dropped.push('messages.image_url.detail');
  return dropped;
}

/**
 * Returns an end-user id that the vendor accepts: unchanged if it cannot identify a person, else a stable
 * digest.
 */
function mapEndUser(user: string): string {
  if (OPAQUE.test(user)) return user;
  return `user_${createHash('sha256').update(user).digest('base64url').slice(0, 32)}`;
}
