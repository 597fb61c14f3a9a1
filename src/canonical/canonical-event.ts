import type { Dialect } from './canonical-request.js';
import type { Usage, UsageSource } from './usage.js';
import type { BillableRoute } from './billable-route.js';

/**
 * The one internal form of an answer. Every adapter yields these, every dialect renders them, and
 * the ledger reads its usage from them, so a streamed and a collected answer cannot drift apart.
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

/** A piece of what the model answers. */
export type ContentEvent =
  | TextEvent
  | ReasoningEvent
  | RefusalEvent
  | ToolCallEvent
  | ToolArgumentsEvent;

/** Which route answers; the first event of every answer, emitted by routing. */
export interface RouteEvent {
  type: 'route';
  route: BillableRoute;
  /** Request fields that the route's dialect has no place for and that were left out. */
  droppedParams: readonly string[];
}

/** The vendor began to answer. No content yet: fallback is still possible after it. */
interface StartEvent {
  type: 'start';
  /** The vendor's id of the answer, where it gives one. */
  id?: string;
}

export interface TextEvent {
  type: 'text';
  choice: number;
  text: string;
  /** Token log probabilities in the chat dialect's shape, where asked for and given. */
  logprobs?: unknown;
}

export interface ReasoningEvent {
  type: 'reasoning';
  choice: number;
  text: string;
  /**
   * The vendor's signature on the reasoning up to here, which must come back unchanged in the next turn
   * (see `nameSignature`). It ends the block of reasoning; the text beside it may be empty.
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
  /** The vendor's signature on the call, which must come back with it in the next turn. */
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
  /** The stop sequence that ended the answer, where the vendor names it. */
  stopSequence?: string;
}

export interface UsageEvent {
  type: 'usage';
  usage: Usage;
  /** `upstream` unless it says otherwise. */
  source?: UsageSource;
  /** The vendor has counted up to here, and goes on; another one follows where the answer is whole. */
  isPartial?: true;
}

/**
 * A piece of the answer in the caller's own dialect, to be written as it is. Adapters emit it
 * instead of the content events when caller and upstream speak the same dialect.
 *
 * While streaming, `bytes` are whole server-sent events with the documented edits done; else
 * they are the whole JSON body. The other fields are what was read in passing.
 */
export interface RelayEvent {
  type: 'relay';
  dialect: Dialect;
  bytes: Buffer;
  /** Whether any of it is a content event (text, reasoning, refusal or tool delta, or the end). */
  hasContent: boolean;
  /** Characters (code points) of text, reasoning, refusal and tool arguments in it. */
  outputCharacters: number;
  finishReason?: FinishReason;
  usage?: Usage;
  /**
   * The whole answer as an object, edits done, in dialects whose last event repeats it. While
   * streaming, `bytes` are that last event then, which the renderer keeps until `settled`.
   */
  answer?: Record<string, unknown>;
}

/** The charge stands. The last event of an answer, emitted by the ledger. */
export interface SettledEvent {
  type: 'settled';
  /** Credits charged. */
  cost: number;
  usage: Usage;
  usageSource: UsageSource;
  /** Whether what was to be stored with the charge is; undefined when there was nothing to store. */
  recorded?: boolean;
}

/** Whether an event is content: after it has been sent to the caller, there is no way back. */
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

/** What a vendor has counted in the events of an answer by now; undefined: nothing. */
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
 * The internal form of an answer that is no generated text: vectors, audio, a transcript. It goes
 * through the same routing and the same settlement as a text answer.
 *
 * Order: `route`, `output` (one, or pieces as they come), `usage` anywhere (the last one counts),
 * and `settled` when the charge is committed. Work that fails ends by throwing.
 */
export type WorkEvent<Output> =
  | RouteEvent
  | StartEvent
  | OutputEvent<Output>
  | UsageEvent
  | SettledEvent;

/** The answer, or a piece of it. Content: after it has been sent to the caller, there is no way back. */
export interface OutputEvent<Output> {
  type: 'output';
  output: Output;
}

/**
 * Why an answer ended, in OpenAI's words, which are the interface's. A vendor's reason that has no
 * counterpart is passed on as it is rather than called `stop`.
 */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | (string & Record<never, never>);

/**
 * Vendors sign what their models think (a signature, or the encrypted thought itself) and want the
 * signature back in the next turn, unchanged. Inside the gateway a signature names who made it, as
 * `<maker>:<signature>`, so that one is never shown to another vendor, which would refuse it. Callers
 * keep signatures as opaque strings.
 */
export function nameSignature(maker: string, signature: string): string {
  return `${maker}:${signature}`;
}

/** The signature as its maker wrote it; undefined when another one made it, or there is none. */
export function signatureBy(maker: string, named: string | undefined): string | undefined {
  return named?.startsWith(`${maker}:`) ? named.slice(maker.length + 1) : undefined;
}
