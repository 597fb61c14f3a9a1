import type {
  CanonicalEvent,
  ContentEvent,
  FinishEvent,
  RelayEvent,
  RouteEvent,
  UsageEvent,
  WorkEvent,
  FinishReason,
  ReasoningEvent,
  ToolArgumentsEvent,
  ToolCallEvent,
} from '../../../canonical/canonical-event.js';
import type { EmbeddingVectors } from '../../../canonical/work-request.js';
import { ownOutputLimitOf } from '../../../canonical/billable-route.js';
import type { CachedAnswer, CachedEvent } from './cached-answer.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/** Thrown for a part of an answer that cannot be replayed. */
class NoCounterpartError extends Error {}

type AnswerEvent = CanonicalEvent | WorkEvent<unknown>;
type ChoiceEvent = Extract<CachedEvent, { choice: number }>;

/** Finish reasons of complete answers. */
const COMPLETE: ReadonlySet<FinishReason> = new Set(['stop', 'length', 'tool_calls']);

/** Characters of one base64-encoded number. */
const CHARACTERS_PER_NUMBER = 11;

/** Records an answer as it passes, as long as it can be cached. */
export class CacheRecorder {
  private route: RouteEvent | undefined;
  private usage: UsageEvent | undefined;
  private readonly events: CachedEvent[] = [];
  /** Last event of each unfinished choice; undefined for finished ones. */
  private readonly open = new Map<number, ChoiceEvent | undefined>();
  private characters = 0;
  private isUnfit = false;

  /**
   * @param maxCharacters longest answer to store
   */
  constructor(private readonly maxCharacters: number) {}

  observe(event: AnswerEvent): void {
    if (this.isUnfit) return;
    switch (event.type) {
      case 'route':
        this.route = event;
        break;
      case 'usage':
        this.usage = event;
        break;
      case 'start':
      case 'settled':
        break;
      case 'relay':
        this.addRelayed(event);
        break;
      case 'output':
        if (Array.isArray(event.output)) this.addVectors(event.output);
        else this.isUnfit = true;
        break;
      case 'finish':
        this.finish(event);
        break;
      default:
        this.add(event);
    }
    if (this.characters > this.maxCharacters) this.giveUp();
  }

  /**
   * Returns the complete answer; undefined when it must not be stored.
   *
   * @param upstreamModelOf returns the vendor's name of the model that answered
   */
  result(upstreamModelOf: (event: RouteEvent) => string): CachedAnswer | undefined {
    const isCut = [...this.open.values()].some((last) => last !== undefined);
    if (this.isUnfit || isCut || this.events.length === 0 || !this.route) return undefined;
    const { model, provider, catalogueId } = this.route.route;
    return {
      route: { model, provider, catalogueId, upstreamModel: upstreamModelOf(this.route) },
      droppedParams: this.route.droppedParams,
      // Streams may start with the prompt's usage, so it goes first.
      events: this.usage ? [this.usage, ...this.events] : this.events,
    };
  }

  private add(event: ChoiceEvent): void {
    const last = this.open.get(event.choice);
    this.characters += lengthOf(event);
    if (last && join(last, event)) return;
    const copy = { ...event };
    this.events.push(copy);
    this.open.set(event.choice, copy);
  }

  private finish(event: FinishEvent): void {
    // A limit set by the gateway depends on the current credits, so the cut answer must not be
    // reused.
    const isCutHere = event.reason === 'length' && this.route && ownOutputLimitOf(this.route.route);
    if (isCutHere || !COMPLETE.has(event.reason)) return this.giveUp();
    this.events.push(event);
    this.open.set(event.choice, undefined);
  }

  /**
   * Records a relayed answer: its raw bytes are opaque, but the final Responses event repeats the
   * answer.
   */
  private addRelayed({ dialect, answer, usage, finishReason }: RelayEvent): void {
    if (dialect !== 'responses') return this.giveUp();
    if (!answer) return;
    const events = readResponseOutput(answer.output);
    if (!events || finishReason === undefined) return this.giveUp();
    for (const event of events) this.add(event);
    this.finish({ type: 'finish', choice: 0, reason: finishReason });
    if (usage) this.usage = { type: 'usage', usage };
  }

  private addVectors(vectors: EmbeddingVectors): void {
    for (const vector of vectors) {
      const perItem = typeof vector === 'string' ? 1 : CHARACTERS_PER_NUMBER;
      this.characters += vector.length * perItem;
    }
    this.events.push({ type: 'output', output: vectors });
  }

  private giveUp(): void {
    this.isUnfit = true;
    this.events.length = 0;
  }
}

/**
 * Appends the next piece to the last event.
 *
 * @returns false when it belongs to another text
 */
function join(last: ChoiceEvent, next: ChoiceEvent): boolean {
  if (last.type === 'text' && next.type === 'text') {
    // Each piece has its own log probabilities.
    if (last.logprobs != null || next.logprobs != null) return false;
    last.text += next.text;
    return true;
  }
  if (last.type === 'reasoning' && next.type === 'reasoning') {
    if (last.signature !== undefined) return false;
    last.text += next.text;
    if (next.signature !== undefined) last.signature = next.signature;
    return true;
  }
  if (last.type === 'refusal' && next.type === 'refusal') {
    last.text += next.text;
    return true;
  }
  if (last.type === 'tool_arguments' && next.type === 'tool_arguments') {
    if (last.index !== next.index) return false;
    last.text += next.text;
    return true;
  }
  return false;
}

function lengthOf(event: ChoiceEvent): number {
  switch (event.type) {
    case 'tool_call':
      return event.id.length + event.name.length + (event.signature?.length ?? 0);
    case 'reasoning':
      return event.text.length + (event.signature?.length ?? 0);
    case 'text':
      return (
        event.text.length + (event.logprobs == null ? 0 : JSON.stringify(event.logprobs).length)
      );
    case 'finish':
      return 0;
    default:
      return event.text.length;
  }
}

/**
 * Converts a Responses answer to events. Keeps signatures, because only callers of the same dialect
 * get them.
 *
 * @param output the answer's items, in the vendor's format
 * @returns undefined when an item has no canonical counterpart and would be lost
 */
export function readResponseOutput(output: unknown): ContentEvent[] | undefined {
  try {
    let calls = 0;
    return objectsOf(output).flatMap((item) => {
      switch (item.type) {
        case 'message':
          return objectsOf(item.content).map(readPart);
        case 'reasoning':
          return [readReasoning(item)];
        case 'function_call':
          return readCall(item, calls++);
        default:
          throw new NoCounterpartError();
      }
    });
  } catch (error) {
    if (error instanceof NoCounterpartError) return undefined;
    throw error;
  }
}

function readPart({ type, text, refusal, annotations, logprobs }: JsonObject): ContentEvent {
  if (type === 'refusal') return { type: 'refusal', choice: 0, text: stringOf(refusal) };
  const isAnnotated = Array.isArray(annotations) && annotations.length > 0;
  if (type !== 'output_text' || isAnnotated) throw new NoCounterpartError();
  const hasLogprobs = Array.isArray(logprobs) && logprobs.length > 0;
  return { type: 'text', choice: 0, text: stringOf(text), ...(hasLogprobs && { logprobs }) };
}

function readReasoning({
  summary,
  content,
  encrypted_content: signature,
}: JsonObject): ReasoningEvent {
  const textOf = (parts: unknown): string =>
    objectsOf(parts ?? [])
      .map(({ text }) => stringOf(text))
      .join('\n\n');
  const text = textOf(summary) || textOf(content);
  return {
    type: 'reasoning',
    choice: 0,
    text,
    ...(signature != null && { signature: stringOf(signature) }),
  };
}

function readCall(item: JsonObject, index: number): [ToolCallEvent, ToolArgumentsEvent] {
  const id = stringOf(item.call_id);
  const text = stringOf(item.arguments);
  return [
    { type: 'tool_call', choice: 0, index, id, name: stringOf(item.name) },
    { type: 'tool_arguments', choice: 0, index, text },
  ];
}

function objectsOf(value: unknown): JsonObject[] {
  if (!Array.isArray(value) || !value.every(isJsonObject)) throw new NoCounterpartError();
  return value;
}

function stringOf(value: unknown): string {
  if (typeof value !== 'string') throw new NoCounterpartError();
  return value;
}
