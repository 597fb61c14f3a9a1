import type { JsonBody } from '../platform/http/json-body.js';
import type { RoutingPreferences } from './routing-preferences.js';
import type { AskedPrices } from './served-prices.js';

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
  /**
   * A bound of the tokens that the caller predicts an answer to have. Vendors bill as output those that
   * do not come, too.
   */
  readonly predictedTokens?: number;
  /** The caller's name for its own end user, as limits and the log know it; see `readEndUser`. */
  readonly endUser?: string | undefined;
  /** What the prompt measures, for the hold and for estimates. */
  readonly promptSize: PromptSize;
  /** Top-level fields of the body that cost or name something in the vendor account behind a shared route. */
  readonly accountBoundParam: AccountBoundParam | undefined;
  /** The searches of the web that the vendor is to run for the answer, if it is to run any. */
  readonly webSearch?: WebSearch;
  /** Headers of the caller's that are meant for the vendor of this dialect, if there are any. */
  readonly vendorHeaders?: VendorHeaders;
  /** The id that the answer is to carry, where the gateway keeps answers under ids of its own. */
  readonly answerId?: string;
  /**
   * True when the answer has to be looked at before the caller sees it: an upstream of the caller's
   * dialect then decodes its answer like any other, instead of relaying its bytes.
   */
  readonly decodesAnswer?: boolean;
  /** Of an answer that is gone on with: output tokens that it has used of its limit. */
  readonly saidTokens?: number;
  /** Whether the last turn, the assistant's, is to be gone on with; it is the gateway's own then. */
  readonly isPrefilled?: boolean;
  /** The conversation in canonical form; worked out on first use, since a relayed request never needs it. */
  readonly prompt: () => CanonicalPrompt;
}

/**
 * Searches that a vendor of the caller's dialect runs, at a price for each. A vendor of any other dialect
 * is not asked for them.
 */
export interface WebSearch {
  /** How many it may run at most; vendors are told where the caller set no limit. */
  readonly most: number;
  /** What shared capacity refuses where it has no price for them. */
  readonly bound: AccountBoundParam;
}

/** How often a vendor may search the web for a request that does not say. */
const DEFAULT_SEARCHES = 10;
/** No vendor runs more searches for one answer. */
export const MAX_SEARCHES = 100;
/** What the pages that one search finds add to the prompt, at most. */
export const TOKENS_PER_SEARCH = 10_000;

/** How often a vendor may search at most, by what the caller says of it. */
export function searchesWithin(limit: unknown): number {
  const isLimit = typeof limit === 'number' && limit >= 0;
  return isLimit ? Math.min(Math.ceil(limit), MAX_SEARCHES) : DEFAULT_SEARCHES;
}

/** What becomes of a caller's headers for its dialect's vendor; names are in lower case. */
export interface VendorHeaders {
  /** As they came: they go out over an account of the caller's own. */
  readonly own: Readonly<Record<string, string>>;
  /** What of them goes out over shared capacity too. */
  readonly shared: Readonly<Record<string, string>>;
  /** What shared capacity leaves out without loss, as the header of dropped fields names it. */
  readonly dropped: readonly string[];
  /** What keeps the request from shared capacity, at vendors that would get it. */
  readonly bound: AccountBoundParam | undefined;
  /** The same where the catalogue's price of a model ends before prompts of so many tokens. */
  readonly longContext: (AccountBoundParam & { readonly tokens: number }) | undefined;
}

/** A field that may only go out with the tenant's own vendor credential. */
export interface AccountBoundParam {
  /** Dotted path of the field. */
  param: string;
  /** Why shared capacity refuses it, for the caller. */
  message: string;
  /** What a route may have a price for, which then takes it all the same. */
  priced?: AskedPrices;
}

export interface PromptSize {
  /** Upper bound of the tokens of text and framing; media count apart, see `promptTokensOf`. */
  tokens: number;
  /** Code points of all text, tool schemas included. */
  characters: number;
  images: number;
  /** Pages of documents, as far as their size tells. */
  pages: number;
  /** Audio, in whole seconds. */
  audioSeconds: number;
}

/** A conversation and its controls, free of any wire format. Adapters of other dialects read this. */
export interface CanonicalPrompt {
  messages: readonly CanonicalMessage[];
  tools: readonly ToolDefinition[];
  toolChoice: ToolChoice | undefined;
  parallelToolCalls: boolean | undefined;
  responseFormat: ResponseFormat | undefined;
  reasoning: ReasoningControl | undefined;
  sampling: SamplingParameters;
  /** The caller's name for its own end user, as it was sent. */
  endUser: string | undefined;
  /** Fields of the body that this form has no place for; a vendor of another dialect never gets them. */
  leftOver: readonly string[];
}

export interface CanonicalMessage {
  /** Results of tools are parts of `tool` messages; system messages may stand anywhere. */
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

/** What any part may carry besides its content. */
interface Cacheable {
  /** The vendor is asked to cache the prompt up to and including this part. */
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

/** What a model thought in an earlier turn. */
export interface ReasoningPart {
  type: 'reasoning';
  /** Empty where the vendor gave only its signature. */
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
  /** A vendor's signature on the call itself. */
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
  /** `none`, `minimal`, `low`, `medium`, `high`, or a word that only some vendor knows. */
  effort?: string;
  /** Budget in tokens. */
  maxTokens?: number;
  /** False: the caller wants none. */
  enabled?: boolean;
}

export interface SamplingParameters {
  temperature?: number;
  topP?: number;
  topK?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  seed?: number;
  stop?: readonly string[];
  logitBias?: Record<string, number>;
  logprobs?: boolean;
  topLogprobs?: number;
}

/** Whether an upstream that speaks this dialect passes its answer on as it is. */
export function isRelayed(
  request: Pick<CanonicalRequest, 'dialect' | 'decodesAnswer'>,
  dialect: Dialect,
): boolean {
  return request.dialect === dialect && request.decodesAnswer !== true;
}
