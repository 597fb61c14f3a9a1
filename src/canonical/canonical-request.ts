import type { JsonBody } from '../platform/http/json-body.js';

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
  /**
   * Headers of the caller's that the vendor of this dialect is to have, by their lower-case names.
   * Only where `accountBoundParam` keeps the request from shared capacity.
   */
  readonly vendorHeaders?: Readonly<Record<string, string>>;
  /** The id that the answer is to carry, where the gateway keeps answers under ids of its own. */
  readonly answerId?: string;
  /**
   * True when the answer has to be looked at before the caller sees it: an upstream of the caller's
   * dialect then decodes its answer like any other, instead of relaying its bytes.
   */
  readonly decodesAnswer?: boolean;
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
  /** The caller's name for its own end user. */
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
  /** Empty where the vendor gave only its seal. */
  text: string;
  /** See `reasoning-seal.ts`. */
  seal?: string;
}

export interface ToolCallPart extends Cacheable {
  type: 'tool_call';
  id: string;
  name: string;
  /** JSON text, as the model wrote it. */
  arguments: string;
  /** A vendor's seal on the call itself. */
  seal?: string;
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
