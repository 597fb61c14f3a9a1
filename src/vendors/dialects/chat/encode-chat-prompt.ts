import type {
  CanonicalRequest,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from '../../../canonical/canonical-request.js';
import {
  conversationField,
  fieldName,
  unsupportedFields,
  type PromptField,
} from '../../../canonical/prompt-fields.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { ChatRelayCall } from './encode-chat-request.js';
import { encodeChatMessages } from './encode-chat-messages.js';
import { toReasoningEffort } from './to-reasoning-effort.js';

/**
 * What a server calls the limit on output tokens. The vendor that made the dialect has renamed it,
 * and its newer models refuse the old name; many compatible servers only know the old one.
 */
export type OutputLimitField = 'max_tokens' | 'max_completion_tokens';

const SUPPORTED: ReadonlySet<PromptField> = new Set([
  'temperature',
  'topP',
  'frequencyPenalty',
  'presencePenalty',
  'seed',
  'stop',
  'logitBias',
  'logprobs',
  'topLogprobs',
  'toolChoice',
  'parallelToolCalls',
  'responseFormat',
  'reasoning',
  'endUser',
]);

/**
 * The body for a server of the chat dialect when the caller speaks another one.
 *
 * @throws UpstreamError `unsupported` for content that the dialect has no spelling for
 */
export function encodeChatPrompt(
  { request, upstreamModel, ownOutputLimit }: ChatRelayCall,
  outputLimitField: OutputLimitField,
): Buffer {
  const prompt = request.prompt();
  const { tools, sampling } = prompt;
  const hasTools = tools.length > 0;
  const field = conversationField(request.dialect);
  // What is undefined is left out of the JSON.
  const body: JsonObject = {
    model: upstreamModel,
    messages: encodeChatMessages(prompt.messages, field),
    stream: request.stream || undefined,
    stream_options: request.stream ? { include_usage: true } : undefined,
    n: request.choices > 1 ? request.choices : undefined,
    [outputLimitField]: request.maxOutputTokens ?? ownOutputLimit,
    tools: hasTools ? tools.map(encodeTool) : undefined,
    tool_choice: encodeToolChoice(prompt.toolChoice, hasTools),
    parallel_tool_calls: hasTools ? prompt.parallelToolCalls : undefined,
    response_format: encodeResponseFormat(prompt.responseFormat),
    reasoning_effort: toReasoningEffort(prompt.reasoning),
    temperature: sampling.temperature,
    top_p: sampling.topP,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: sampling.stop?.length ? sampling.stop : undefined,
    logit_bias: sampling.logitBias,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
    user: prompt.endUser,
  };
  return Buffer.from(JSON.stringify(body));
}

/** What of a request of another dialect does not reach such a server, as its caller spells it. */
export function fieldsChatLacks(request: CanonicalRequest): string[] {
  const dropped = unsupportedFields(request, SUPPORTED);
  const { reasoning, messages, tools } = request.prompt();
  if (reasoning !== undefined && toReasoningEffort(reasoning) === undefined) {
    dropped.push(fieldName(request.dialect, 'reasoning'));
  }
  const marked = [...messages.flatMap((message) => message.parts), ...tools];
  if (marked.some((part) => 'cacheControl' in part && part.cacheControl !== undefined)) {
    dropped.push('cache_control');
  }
  return [...new Set(dropped)];
}

function encodeTool({ name, description, parameters, strict }: ToolDefinition): JsonObject {
  return { type: 'function', function: { name, description, parameters, strict } };
}

/** Without tools there is nothing to choose, and the vendor refuses the field. */
function encodeToolChoice(choice: ToolChoice | undefined, hasTools: boolean): unknown {
  if (typeof choice === 'object') return { type: 'function', function: { name: choice.name } };
  return hasTools || choice === 'required' ? choice : undefined;
}

function encodeResponseFormat(format: ResponseFormat | undefined): unknown {
  if (format?.type !== 'json_schema') return format;
  const { name, schema, strict } = format;
  return { type: 'json_schema', json_schema: { name, schema, strict } };
}
