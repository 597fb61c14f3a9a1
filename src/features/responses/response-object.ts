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

/** The parts of a response object that are not in the request. */
export interface ResponseState {
  id: string;
  /** Unix seconds. */
  createdAt: number;
  /** Unix seconds; set once the answer is complete. */
  completedAt?: number;
  status: ResponseStatus;
  /** Alias of the answering model. */
  model: string;
  /** True when the response is stored: as requested, unless storing turned out to be impossible. */
  isStored: boolean;
  usage?: Usage;
  error?: { code: string; message: string };
  incompleteReason?: string;
}

/** Returns the fields of the response object before and after its output. */
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

/** Returns `output_text` of an ended response; undefined otherwise. Items may be a vendor's own. */
export function outputText(status: unknown, output: unknown): string | undefined {
  if (status !== 'completed' && status !== 'incomplete') return undefined;
  const items = Array.isArray(output) ? output.filter(isJsonObject) : [];
  return items
    .flatMap(({ content }) => (Array.isArray(content) ? content.filter(isJsonObject) : []))
    .map(({ type, text }) => (type === 'output_text' && typeof text === 'string' ? text : ''))
    .join('');
}

/** Converts usage to this dialect. Cached and reasoning tokens are included in the totals. */
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

/** Converts a failure to the dialect's `error`, which has few codes. */
export function toResponseError(failure: unknown): { code: string; message: string } {
  const error = gatewayErrorOf(failure);
  return { code: codeOf(error), message: error.message };
}

function codeOf(error: GatewayError): string {
  if (error instanceof PromptTooLongError) return PROMPT_TOO_LONG;
  return error.type === 'rate_limit_error' ? 'rate_limit_exceeded' : 'server_error';
}

/** Output items as callers receive them. */
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
  /** Vendor's signature, to be sent back with the next turn. */
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
  /** Vendor's signature of the call. */
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

/** A call of a built-in tool that the caller runs. Other members depend on the type. */
export interface BuiltInCallItem {
  [member: string]: unknown;
  id: string;
  type: Exclude<CallForm['type'], 'function_call' | 'custom_tool_call'>;
  status: ItemStatus;
  call_id: string;
  encrypted_content?: string;
}
