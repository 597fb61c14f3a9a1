import type { Usage } from '../../canonical/usage.js';
import type { CallForm } from './client-tools.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { gatewayErrorOf } from '../../platform/database/database-outage.js';
import {
  PROMPT_TOO_LONG,
  PromptTooLongError,
  type GatewayError,
} from '../../platform/errors/gateway-errors.js';
import { responseDefaults } from '../../vendors/dialects/responses/response-defaults.js';

export type ResponseStatus =
  | 'queued'
  | 'in_progress'
  | 'completed'
  | 'incomplete'
  | 'failed'
  | 'cancelled';

/** What of an answer is not in the request. */
export interface ResponseState {
  id: string;
  /** Unix seconds. */
  createdAt: number;
  /** The same, of an answer that is complete. */
  completedAt?: number;
  status: ResponseStatus;
  /** The alias that answers. */
  model: string;
  /** Whether the response is kept; as the caller asked, unless that turned out to be impossible. */
  isStored: boolean;
  usage?: Usage;
  error?: { code: string; message: string };
  incompleteReason?: string;
}

/** The response object, but for its output: the fields that stand before it and behind it. */
export function responseFields(
  request: JsonObject,
  state: ResponseState,
): { before: JsonObject; after: JsonObject } {
  const before = {
    id: state.id,
    object: 'response',
    created_at: state.createdAt,
    completed_at: state.completedAt ?? null,
    status: state.status,
    model: state.model,
    error: state.error ?? null,
    incomplete_details:
      state.incompleteReason === undefined ? null : { reason: state.incompleteReason },
  };
  const after: JsonObject = {
    usage: state.usage ? usageFields(state.usage) : null,
    ...responseDefaults(request),
    store: state.isStored,
  };
  return { before, after };
}

/**
 * What `output_text` is of a response that has ended, and undefined of any other. The items may be
 * a vendor's.
 */
export function outputText(status: unknown, output: unknown): string | undefined {
  if (status !== 'completed' && status !== 'incomplete') return undefined;
  const items = Array.isArray(output) ? output.filter(isJsonObject) : [];
  return items
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []))
    .map(({ type, text }) => (type === 'output_text' && typeof text === 'string' ? text : ''))
    .join('');
}

/** Usage in the words of the dialect; cached and reasoning tokens are parts of the sums. */
export function usageFields(usage: Usage): object {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

/** A failure as the dialect's `error` object; its codes are few. */
export function toResponseError(failure: unknown): { code: string; message: string } {
  const error = gatewayErrorOf(failure);
  return { code: codeOf(error), message: error.message };
}

function codeOf(error: GatewayError): string {
  if (error instanceof PromptTooLongError) return PROMPT_TOO_LONG;
  return error.type === 'rate_limit_error' ? 'rate_limit_exceeded' : 'server_error';
}

/** The items of an answer, as callers get them. */
export type OutputItem =
  | MessageItem
  | ReasoningItem
  | FunctionCallItem
  | CustomToolCallItem
  | BuiltInCallItem;

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface MessageItem {
  id: string;
  type: 'message';
  status: ItemStatus;
  role: 'assistant';
  content: (OutputTextPart | RefusalPart)[];
}

export interface OutputTextPart {
  type: 'output_text';
  text: string;
  annotations: [];
  logprobs: unknown[];
}

export interface RefusalPart {
  type: 'refusal';
  refusal: string;
}

export interface ReasoningItem {
  id: string;
  type: 'reasoning';
  summary: { type: 'summary_text'; text: string }[];
  /** The vendor's signature, to be sent back with the next turn. */
  encrypted_content?: string;
}

export interface FunctionCallItem {
  id: string;
  type: 'function_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  namespace?: string;
  arguments: string;
  /** A vendor's signature on the call itself. */
  encrypted_content?: string;
}

export interface CustomToolCallItem {
  id: string;
  type: 'custom_tool_call';
  status: ItemStatus;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
  encrypted_content?: string;
}

/** A call of a tool that is the dialect's own and that the caller runs; what it asks for is its type's. */
export interface BuiltInCallItem {
  [member: string]: unknown;
  id: string;
  type: Exclude<CallForm['type'], 'function_call' | 'custom_tool_call'>;
  status: ItemStatus;
  call_id: string;
  encrypted_content?: string;
}
