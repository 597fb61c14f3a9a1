import type {
  CanonicalMessage,
  CanonicalPrompt,
  MessagePart,
  ResponseFormat,
  ToolCallPart,
} from '../../canonical/canonical-request.js';
import { membersRead, samplingReader } from '../../canonical/prompt-field-table.js';
import { readMediaSource, toCacheControl, optional } from '../../canonical/prompt-parts.js';
import { GATEWAY_FIELDS } from '../../canonical/routing-fields.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import type { ChatBody, ChatMessage } from './chat-completion.schema.js';
import {
  isAudioPart,
  isCustomToolCall,
  isFilePart,
  isImagePart,
  isRefusalPart,
  isTextPart,
  isToolCall,
} from './measure-chat-prompt.js';
import { readChatTools } from './read-chat-tools.js';

/** Fields that the canonical form carries in some way, or that belong to the gateway. */
const READ_FIELDS = new Set([
  ...GATEWAY_FIELDS,
  'model',
  'messages',
  'input',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'tools',
  ...membersRead('chat'),
]);
const readSampling = samplingReader('chat');

/** Members of `reasoning` that the canonical form has. */
const READ_REASONING: ReadonlySet<string> = new Set(['effort', 'max_tokens', 'enabled']);

/** Converts a validated chat body to the canonical prompt. */
export function chatPrompt(body: ChatBody): CanonicalPrompt {
  const { tools, toolChoice, droppedFields } = readChatTools(body);
  const messages = body.messages ?? [];
  return {
    messages: messages.map(toMessage),
    tools,
    toolChoice,
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    responseFormat: toResponseFormat(body.response_format),
    reasoning: toReasoning(body),
    endUser: body.user ?? undefined,
    droppedFields: [
      ...Object.keys(body).filter((key) => body[key] != null && !READ_FIELDS.has(key)),
      ...droppedFields,
      ...droppedReasoning(body.reasoning),
      ...droppedParts(messages),
    ],
    sampling: readSampling(body),
  };
}

const ROLES: Record<ChatMessage['role'], CanonicalMessage['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

function toMessage(message: ChatMessage): CanonicalMessage {
  const role = ROLES[message.role];
  const parts = toParts(message.content);
  if (role === 'tool') {
    const toolCallId = message.tool_call_id ?? message.name ?? '';
    const content = parts.filter(
      (part) => part.type === 'text' || part.type === 'image' || part.type === 'document',
    );
    return { role, parts: [{ type: 'tool_result', toolCallId, parts: content }] };
  }
  if (typeof message.refusal === 'string') parts.push({ type: 'refusal', text: message.refusal });
  const details = readReasoningDetails(message.reasoning_details);
  for (const call of message.tool_calls ?? []) {
    const toolCall = readToolCall(call);
    if (!toolCall) continue;
    const signature = details.signaturesOfCalls.get(toolCall.id);
    parts.push({ ...toolCall, ...optional('signature', signature) });
  }
  return {
    role,
    parts: [...details.parts, ...parts],
    ...optional('name', message.name),
  };
}

function readToolCall(call: JsonObject): ToolCallPart | undefined {
  if (call.type === 'custom') {
    if (!isCustomToolCall(call)) return undefined;
    const { name, input } = call.custom;
    return { type: 'tool_call', id: call.id, name, arguments: input };
  }
  if (!isToolCall(call)) return undefined;
  const { name, arguments: args } = call.function;
  return { type: 'tool_call', id: call.id, name, arguments: args };
}

function toParts(content: ChatMessage['content']): MessagePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content ?? []).flatMap((part) => toPart(part) ?? []);
}

/** Returns undefined for a part that the canonical form cannot represent. */
function toPart(part: JsonObject): MessagePart | undefined {
  const cacheControl = optional('cacheControl', toCacheControl(part.cache_control));
  switch (part.type) {
    case 'text':
      return isTextPart(part) ? { type: 'text', text: part.text, ...cacheControl } : undefined;
    case 'refusal':
      return isRefusalPart(part) ? { type: 'refusal', text: part.refusal } : undefined;
    case 'image_url': {
      if (!isImagePart(part)) return undefined;
      const { image_url: image } = part;
      if (typeof image === 'string') {
        return { type: 'image', source: readMediaSource(image), ...cacheControl };
      }
      const detail = typeof image.detail === 'string' ? { detail: image.detail } : {};
      return { type: 'image', source: readMediaSource(image.url), ...detail, ...cacheControl };
    }
    case 'input_audio': {
      if (!isAudioPart(part)) return undefined;
      const { data, format } = part.input_audio;
      return { type: 'audio', data, format };
    }
    case 'file': {
      if (!isFilePart(part)) return undefined;
      const { filename, file_data: data } = part.file;
      const named = typeof filename === 'string' ? { filename } : {};
      return { type: 'document', source: readMediaSource(data), ...named, ...cacheControl };
    }
    default:
      return undefined;
  }
}

/**
 * Reads the reasoning of an earlier turn: texts with signatures, and signatures of tool calls by
 * call id.
 */
function readReasoningDetails(value: unknown): {
  parts: MessagePart[];
  signaturesOfCalls: Map<string, string>;
} {
  const parts: MessagePart[] = [];
  const signaturesOfCalls = new Map<string, string>();
  for (const detail of Array.isArray(value) ? value.filter(isJsonObject) : []) {
    const signature = detail.signature ?? detail.data;
    if (typeof detail.id === 'string' && typeof signature === 'string') {
      signaturesOfCalls.set(detail.id, signature);
      continue;
    }
    const text = typeof detail.text === 'string' ? detail.text : '';
    parts.push({ type: 'reasoning', text, ...(typeof signature === 'string' && { signature }) });
  }
  return { parts, signaturesOfCalls };
}

function toResponseFormat(format: ChatBody['response_format']): ResponseFormat | undefined {
  if (!format) return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema' || !format.json_schema) return { type: 'text' };
  const { name, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name: typeof name === 'string' ? name : 'response',
    schema: isJsonObject(schema) ? schema : {},
    ...optional('strict', typeof strict === 'boolean' ? strict : undefined),
  };
}

function toReasoning(body: ChatBody): CanonicalPrompt['reasoning'] {
  const control = body.reasoning ?? {};
  const effort = body.reasoning_effort ?? control.effort ?? undefined;
  const maxTokens = control.max_tokens ?? undefined;
  const enabled = typeof control.enabled === 'boolean' ? control.enabled : undefined;
  if (effort === undefined && maxTokens === undefined && enabled === undefined) return undefined;
  return {
    ...optional('effort', effort),
    ...optional('maxTokens', maxTokens),
    ...optional('enabled', enabled),
  };
}

/** Returns options such as `exclude` and `summary`, unless they are false. */
function droppedReasoning(control: ChatBody['reasoning']): string[] {
  if (!control) return [];
  return Object.keys(control)
    .filter((key) => !READ_REASONING.has(key) && control[key] != null && control[key] !== false)
    .map((key) => `reasoning.${key}`);
}

/**
 * Returns parts that the canonical form cannot represent: unknown types, and files in vendor
 * accounts.
 */
function droppedParts(messages: readonly ChatMessage[]): string[] {
  return messages.flatMap(({ content }, index) =>
    (Array.isArray(content) ? content : []).flatMap((part, at) =>
      toPart(part) ? [] : [`messages.${index}.content.${at}`],
    ),
  );
}
