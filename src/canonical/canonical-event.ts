import type { Dialect } from './canonical-request.js';
import type { Usage, UsageSource } from './usage.js';
import type { BillableRoute } from './billable-route.js';

/**
 * The one internal form of an answer. Every adapter yields these, every dialect renders them, and the
 * ledger reads usage from them, which keeps streamed and collected answers consistent.
 *
 * Order: `route`, then (for each choice) content events and its `finish`, `usage` anywhere (the
 * last one counts), and `settled` when the charge is committed. An answer that fails ends by
 * throwing, never by an event.
 */
export type CanonicalEvent =
  | RouteEvent
  | StartEvent
  | ContentEvent
  | FinishEvent
  | UsageEvent
  | RelayEvent
  | SettledEvent;

/** A piece of the model's output. */
export type ContentEvent =
  | TextEvent
  | ReasoningEvent
  | RefusalEvent
  | ToolCallEvent
  | ToolArgumentsEvent;

/** The route that answers; the first event of every answer, emitted by routing. */
export interface RouteEvent {
  type: 'route';
  route: BillableRoute;
  /** Request fields dropped because the route's dialect does not support them. */
  droppedParams: readonly string[];
}

/** The vendor began to answer. No content yet: fallback is still possible. */
interface StartEvent {
  type: 'start';
  /** The vendor's id for the answer, when it gives one. */
  id?: string;
}

export interface TextEvent {
  type: 'text';
  choice: number;
  text: string;
  /** Token log probabilities in the chat dialect's shape, when requested and available. */
  logprobs?: unknown;
}

export interface ReasoningEvent {
  type: 'reasoning';
  choice: number;
  text: string;
  /**
   * The vendor's signature on the reasoning so far, which must be sent back unchanged in the next turn
   * (see `nameSignature`). It ends the reasoning block; its event may have no text.
   */
  signature?: string;
}

export interface RefusalEvent {
  type: 'refusal';
  choice: number;
  text: string;
}

/** A tool call begins. Its arguments follow as `tool_arguments` with the same `index`. */
export interface ToolCallEvent {
  type: 'tool_call';
  choice: number;
  /** Position among the choice's tool calls, from 0. */
  index: number;
  id: string;
  name: string;
  /** The vendor's signature on the call, to be sent back with it in the next turn. */
  signature?: string;
}

export interface ToolArgumentsEvent {
  type: 'tool_arguments';
  choice: number;
  index: number;
  /** The next piece of the arguments' JSON text. */
  text: string;
}

export interface FinishEvent {
  type: 'finish';
  choice: number;
  reason: FinishReason;
  /** The stop sequence that ended the answer, when the vendor reports it. */
  stopSequence?: string;
}

export interface UsageEvent {
  type: 'usage';
  usage: Usage;
  /** Defaults to `upstream`. */
  source?: UsageSource;
  /** The count so far; a final one follows when the answer completes. */
  isPartial?: true;
}

/**
 * A piece of the answer in the caller's own dialect, to be written unchanged. Adapters emit it
 * instead of content events when caller and upstream speak the same dialect.
 *
 * When streaming, `bytes` are whole server-sent events with the documented edits applied; otherwise
 * the whole JSON body. The other fields are what the relay parsed along the way.
 */
export interface RelayEvent {
  type: 'relay';
  dialect: Dialect;
  bytes: Buffer;
  /** True when any of it is content: a text, reasoning, refusal or tool delta, or the finish. */
  hasContent: boolean;
  /** Characters (code points) of text, reasoning, refusal and tool arguments in it. */
  outputCharacters: number;
  finishReason?: FinishReason;
  usage?: Usage;
  /**
   * The whole edited answer as an object, in dialects whose last event repeats it. When streaming,
   * `bytes` are then that last event, which the renderer holds back until `settled`.
   */
  answer?: Record<string, unknown>;
}

/** The charge is final. The last event of an answer, emitted by the ledger. */
export interface SettledEvent {
  type: 'settled';
  /** Credits charged. */
  cost: number;
  usage: Usage;
  usageSource: UsageSource;
  /** True when the record stored with the charge was written; undefined when there was nothing to store. */
  recorded?: boolean;
}

/** Returns whether an event is content. Once content has been sent, fallback is impossible. */
export function isContent(event: CanonicalEvent | WorkEvent<unknown>): boolean {
  switch (event.type) {
    case 'reasoning':
      return event.text !== '' || event.signature !== undefined;
    case 'text':
    case 'refusal':
      return event.text !== '';
    case 'tool_call':
    case 'tool_arguments':
    case 'finish':
    case 'output':
      return true;
    case 'relay':
      return event.hasContent;
    case 'route':
    case 'start':
    case 'usage':
    case 'settled':
      return false;
  }
}

/** Returns the latest usage among an answer's events; undefined when there is none. */
export function usageIn(
  events: readonly (CanonicalEvent | WorkEvent<unknown>)[],
): Usage | undefined {
  let usage: Usage | undefined;
  for (const event of events) {
    if (event.type === 'usage' || event.type === 'relay') usage = event.usage ?? usage;
  }
  return usage;
}

/**
 * The internal form of an answer other than generated text: vectors, audio, a transcript. It takes
 * the same routing and settlement as a text answer.
 *
 * Order: `route`, `output` (one, or several pieces), `usage` anywhere (the last one counts), and
 * `settled` when the charge is committed. Failed work ends by throwing.
 */
export type WorkEvent<Output> =
  | RouteEvent
  | StartEvent
  | OutputEvent<Output>
  | UsageEvent
  | SettledEvent;

/** The answer, or a piece of it. It is content: once sent to the caller, fallback is impossible. */
export interface OutputEvent<Output> {
  type: 'output';
  output: Output;
}

/**
 * Why an answer ended, in OpenAI's terms, which the interface uses. A vendor's reason without a
 * counterpart is passed on unchanged rather than reported as `stop`.
 */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | (string & Record<never, never>);

/**
 * Names a vendor's reasoning signature after its maker, as `<maker>:<signature>`. Vendors sign their
 * models' reasoning (a signature, or the encrypted thought itself) and require it back unchanged in the
 * next turn. The name keeps it from other vendors, which would reject it. Callers treat signatures as
 * opaque strings.
 */
export function nameSignature(maker: string, signature: string): string {
  return `${maker}:${signature}`;
}

/** Returns the signature as its maker wrote it; undefined when another maker did, or there is none. */
export function signatureBy(maker: string, named: string | undefined): string | undefined {
  return named?.startsWith(`${maker}:`) ? named.slice(maker.length + 1) : undefined;
}
