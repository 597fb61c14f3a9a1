import type { JsonBody } from '../common/http/json-body.js';

/** The wire formats spoken to callers. */
export type Dialect = 'chat' | 'messages' | 'responses';

/** A text request in the one internal form; each dialect's `parse` makes it. */
export interface CanonicalRequest {
  readonly dialect: Dialect;
  /** The body as received, for upstreams that speak the caller's dialect. */
  readonly body: JsonBody;
  /** Aliases to try in order, without repeats; at least one. */
  readonly models: readonly [string, ...string[]];
  readonly routing: RoutingPreferences;
  readonly stream: boolean;
  /** How many answers were asked for (`n`). */
  readonly choices: number;
  /** The caller's limit on output tokens, if any. */
  readonly maxOutputTokens: number | undefined;
  /** What the prompt measures, for the hold and for estimates. */
  readonly promptSize: PromptSize;
  /** Top-level fields of the body that cost or name something in the vendor account behind a shared route. */
  readonly accountBoundParam: AccountBoundParam | undefined;
  /** The conversation in canonical form; worked out on first use, since a relayed request never needs it. */
  readonly prompt: () => CanonicalPrompt;
}

/** A field that may only go out with the tenant's own vendor credential. */
export interface AccountBoundParam {
  /** Dotted path of the field. */
  param: string;
  /** Why shared capacity refuses it, for the caller. */
  message: string;
}

export interface RoutingPreferences {
  readonly order: readonly string[];
  readonly only: readonly string[] | undefined;
  readonly ignore: readonly string[];
  readonly allowFallbacks: boolean;
  readonly strategy: 'fallback' | 'sort';
}

export interface PromptSize {
  /** Upper bound of input tokens: three ASCII characters to a token, any other character one. */
  tokens: number;
  /** Code points of all text, tool schemas included. */
  characters: number;
  images: number;
}

export interface CanonicalPrompt {
  messages: readonly CanonicalMessage[];
  tools: readonly ToolDefinition[];
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
  responseFormat: ResponseFormat | undefined;
  reasoning: ReasoningControl | undefined;
  sampling: SamplingParameters;
}

export interface CanonicalMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  name?: string;
  parts: readonly MessagePart[];
}

export type MessagePart =
  | { type: 'text'; text: string }
  | { type: 'image'; url: string; detail?: string }
  | { type: 'file'; data: string; filename?: string }
  | { type: 'audio'; data: string; format: string }
  | { type: 'refusal'; text: string }
  | { type: 'tool_call'; id: string; name: string; arguments: string }
  | { type: 'tool_result'; toolCallId: string; text: string };

export interface ToolDefinition {
  name: string;
  description?: string;
  /** JSON Schema of the arguments. */
  parameters?: Record<string, unknown>;
  strict?: boolean;
}

export type ToolChoice = 'auto' | 'none' | 'required' | { name: string };

export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | { type: 'json_schema'; name: string; schema: Record<string, unknown>; strict?: boolean };

export interface ReasoningControl {
  effort?: string;
  maxTokens?: number;
}

export interface SamplingParameters {
  temperature?: number;
  topP?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stop?: readonly string[];
  logitBias?: Record<string, number>;
  logprobs?: boolean;
  topLogprobs?: number;
}
