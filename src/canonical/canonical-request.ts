import type { JsonBody } from '../platform/http/json-body.js';
import type { SamplingParameters } from './prompt-field-table.js';
import type { RoutingPreferences } from './routing-preferences.js';
import type { RequestedPrices } from './served-prices.js';

/** The wire formats spoken to callers. */
export type Dialect = 'chat' | 'messages' | 'responses';

/** A text request in the one internal form, which each dialect's `parse` produces. */
export interface CanonicalRequest {
  readonly dialect: Dialect;
  /** The body as received, for upstreams that speak the caller's dialect. */
  readonly body: JsonBody;
  /** Aliases to try in order, without duplicates; at least one. */
  readonly models: readonly [string, ...string[]];
  readonly routing: RoutingPreferences;
  readonly stream: boolean;
  /** Number of answers requested (`n`). */
  readonly choices: number;
  /** The caller's limit on output tokens, if any. */
  readonly maxOutputTokens: number | undefined;
  /**
   * Upper bound on the tokens of the caller's predicted output. Vendors bill rejected prediction tokens
   * as output.
   */
  readonly predictedTokens?: number;
  /** The caller's identifier for its own end user, as limits and the log know it; see `readEndUser`. */
  readonly endUser?: string | undefined;
  /** Measured size of the prompt, for the hold and for estimates. */
  readonly promptSize: PromptSize;
  /** A top-level field that costs money or names a resource in the vendor account of a shared route. */
  readonly accountBoundParam: AccountBoundParam | undefined;
  /** Web searches that the vendor may run for the answer. */
  readonly webSearch?: WebSearch;
  /** Headers that the caller sent for the vendor of this dialect. */
  readonly vendorHeaders?: VendorHeaders;
  /** The id for the answer, when the gateway stores answers under its own ids. */
  readonly answerId?: string;
  /**
   * True when the answer must be inspected before the caller sees it. An upstream of the caller's
   * dialect then decodes its answer instead of relaying the bytes.
   */
  readonly decodesAnswer?: boolean;
  /** For a resumed answer: output tokens already used of its limit. */
  readonly usedOutputTokens?: number;
  /** True when the last assistant message is a prefix to continue, added by the gateway. */
  readonly isPrefilled?: boolean;
  /** Returns the conversation in canonical form. Computed on first use: relayed requests never need it. */
  readonly prompt: () => CanonicalPrompt;
}

/**
 * Web searches run by a vendor of the caller's dialect, each at a price. Vendors of other dialects are
 * not asked to search.
 */
export interface WebSearch {
  /** Maximum number of searches, sent to the vendor when the caller set no limit. */
  readonly most: number;
  /** The field that shared capacity refuses when it has no price for searches. */
  readonly bound: AccountBoundParam;
}

/** Search limit for a request that sets none. */
const DEFAULT_SEARCHES = 10;
/** No vendor runs more searches for one answer. */
export const MAX_SEARCHES = 100;
/** Upper bound on the prompt tokens that one search's results add. */
export const TOKENS_PER_SEARCH = 10_000;

/** Returns the maximum number of searches for the caller's `limit`. */
export function searchesWithin(limit: unknown): number {
  const isLimit = typeof limit === 'number' && limit >= 0;
  return isLimit ? Math.min(Math.ceil(limit), MAX_SEARCHES) : DEFAULT_SEARCHES;
}

/** The caller's headers for its dialect's vendor, sorted by where they may go; names in lower case. */
export interface VendorHeaders {
  /** Sent over the caller's BYOK account: all of them, unchanged. */
  readonly own: Readonly<Record<string, string>>;
  /** The subset that is also sent over shared capacity. */
  readonly shared: Readonly<Record<string, string>>;
  /** Headers that shared capacity omits without loss, as listed in the dropped-fields header. */
  readonly dropped: readonly string[];
  /** A header that keeps the request off shared capacity, for vendors that would receive it. */
  readonly bound: AccountBoundParam | undefined;
  /** The same, only for models whose listed price ends before prompts of `tokens` tokens. */
  readonly longContext: (AccountBoundParam & { readonly tokens: number }) | undefined;
}

/** A field that may only be sent with the tenant's own vendor credential. */
export interface AccountBoundParam {
  /** Dotted path of the field. */
  param: string;
  /** Why shared capacity refuses it, for the caller. */
  message: string;
  /** Routes with prices for this accept the field anyway. */
  priced?: RequestedPrices;
}

export interface PromptSize {
  /** Upper bound of the tokens of text and framing; media are counted separately, see `promptTokensOf`. */
  tokens: number;
  /** Code points of all text, tool schemas included. */
  characters: number;
  images: number;
  /** Pages of documents, estimated from their size. */
  pages: number;
  /** Audio, in whole seconds. */
  audioSeconds: number;
}

/** A conversation and its controls, independent of any wire format. Adapters of other dialects read this. */
export interface CanonicalPrompt {
  messages: readonly CanonicalMessage[];
  tools: readonly ToolDefinition[];
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
  responseFormat: ResponseFormat | undefined;
  reasoning: ReasoningControl | undefined;
  sampling: SamplingParameters;
  /** The caller's identifier for its own end user, as sent. */
  endUser: string | undefined;
  /** Body fields that this form cannot express; vendors of other dialects never get them. */
  droppedFields: readonly string[];
}

export interface CanonicalMessage {
  /** Tool results are parts of `tool` messages; system messages may appear anywhere. */
  role: 'system' | 'user' | 'assistant' | 'tool';
  name?: string;
  parts: readonly MessagePart[];
}

export type MessagePart =
  | TextPart
  | ImagePart
  | DocumentPart
  | AudioPart
  | RefusalPart
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart;

/** Fields that any part may have besides its content. */
interface Cacheable {
  /** Asks the vendor to cache the prompt up to and including this part. */
  cacheControl?: CacheControl;
}

export interface CacheControl {
  ttl: '5m' | '1h';
}

export interface TextPart extends Cacheable {
  type: 'text';
  text: string;
}

export interface ImagePart extends Cacheable {
  type: 'image';
  source: MediaSource;
  detail?: string;
}

/** A PDF, a text file and so on. */
export interface DocumentPart extends Cacheable {
  type: 'document';
  source: MediaSource;
  filename?: string;
}

export interface AudioPart extends Cacheable {
  type: 'audio';
  /** Base64. */
  data: string;
  /** `wav`, `mp3`, … */
  format: string;
}

export interface RefusalPart {
  type: 'refusal';
  text: string;
}

/** A model's reasoning from an earlier turn. */
export interface ReasoningPart {
  type: 'reasoning';
  /** Empty when the vendor gave only a signature. */
  text: string;
  /** See `nameSignature`. */
  signature?: string;
}

export interface ToolCallPart extends Cacheable {
  type: 'tool_call';
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
  /** The vendor's signature on the call itself. */
  signature?: string;
}

export interface ToolResultPart extends Cacheable {
  type: 'tool_result';
  toolCallId: string;
  parts: readonly (TextPart | ImagePart | DocumentPart)[];
  isError?: boolean;
}

export type MediaSource =
  | { kind: 'url'; url: string }
  /** `data` is base64. */
  | { kind: 'inline'; mediaType: string; data: string };

export interface ToolDefinition extends Cacheable {
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
  /** `none`, `minimal`, `low`, `medium`, `high`, or a vendor-specific word. */
  effort?: string;
  /** Budget in tokens. */
  maxTokens?: number;
  /** False to disable reasoning. */
  enabled?: boolean;
}

/** Returns whether an upstream that speaks this dialect relays its answer unchanged. */
export function isRelayed(
  request: Pick<CanonicalRequest, 'dialect' | 'decodesAnswer'>,
  dialect: Dialect,
): boolean {
  return request.dialect === dialect && request.decodesAnswer !== true;
}
