import { nameSignature, type CanonicalEvent } from '../../../canonical/canonical-event.js';
import { unreadable } from '../../upstream-error.js';
import { mapFinishReason } from '../map-finish-reason.js';
import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { readTokenCount } from '../answer-json.js';
import { HeldBackLimit } from '../held-back.js';
import { CallIds } from '../tool-calls.js';

export interface ConverseAnswerOptions {
  signatureIssuer: string;
  redactedIssuer: string;
  /** The tool whose arguments are the answer's text. */
  jsonTool: string | undefined;
}

interface ToolBlock {
  /** Position among the answer's tool calls; undefined for the tool that carries the text. */
  index: number | undefined;
  /** Set on further calls of that tool, which are not part of the answer. */
  isIgnored: boolean;
  hasInput: boolean;
}

/**
 * Turns the blocks of an answer into canonical events, whether they arrive in pieces or whole. Each method
 * takes one piece and returns its events.
 *
 * @throws UpstreamError `unreadable` from any of them when too much is held back
 */
export class ConverseAnswerReader {
  private readonly toolBlocks = new Map<number, ToolBlock>();
  private readonly signatures = new Map<number, string>();
  private readonly redacted = new Map<number, Buffer[]>();
  private readonly callIds = new CallIds();
  private readonly heldBack = new HeldBackLimit();
  private toolCalls = 0;
  private hasJson = false;
  /** Texts next to the tool that carries the answer; they are the answer only if it is not called. */
  private readonly heldTexts: string[] = [];

  constructor(private readonly options: ConverseAnswerOptions) {}

  text(text: string): CanonicalEvent[] {
    if (text === '') return [];
    if (this.options.jsonTool === undefined) return [{ type: 'text', choice: 0, text }];
    this.heldBack.add(text);
    this.heldTexts.push(text);
    return [];
  }

  reasoning(text: string): CanonicalEvent[] {
    return text === '' ? [] : [{ type: 'reasoning', choice: 0, text }];
  }

  signature(block: number, piece: string): CanonicalEvent[] {
    this.heldBack.add(piece);
    this.signatures.set(block, (this.signatures.get(block) ?? '') + piece);
    return [];
  }

  /** @param data base64 */
  redactedReasoning(block: number, data: string): CanonicalEvent[] {
    this.heldBack.add(data);
    const piece = Buffer.from(data, 'base64');
    const pieces = this.redacted.get(block);
    if (pieces) pieces.push(piece);
    else this.redacted.set(block, [piece]);
    return [];
  }

  toolStart(block: number, id: string, name: string): CanonicalEvent[] {
    if (name === this.options.jsonTool) {
      this.heldBack.add('');
      this.toolBlocks.set(block, { index: undefined, isIgnored: this.hasJson, hasInput: false });
      this.hasJson = true;
      return [];
    }
    const index = this.toolCalls++;
    this.toolBlocks.set(block, { index, isIgnored: false, hasInput: false });
    return [{ type: 'tool_call', choice: 0, index, id: this.callIds.next(id), name }];
  }

  /** @throws UpstreamError `unreadable` for a block that did not start */
  toolInput(block: number, text: string): CanonicalEvent[] {
    const tool = this.toolBlocks.get(block);
    if (!tool) {
      throw unreadable('input of a tool call that did not start');
    }
    if (text === '' || tool.isIgnored) return [];
    tool.hasInput = true;
    if (tool.index === undefined) return [{ type: 'text', choice: 0, text }];
    return [{ type: 'tool_arguments', choice: 0, index: tool.index, text }];
  }

  blockStop(block: number): CanonicalEvent[] {
    const tool = this.toolBlocks.get(block);
    // Tools without parameters are called without input, but callers parse the arguments.
    const input = tool && !tool.hasInput ? this.toolInput(block, '{}') : [];
    this.toolBlocks.delete(block);
    return [...input, ...this.signedReasoning(block)];
  }

  stop(reason: string, stopSequence: string | undefined): CanonicalEvent[] {
    const open = new Set([
      ...this.toolBlocks.keys(),
      ...this.signatures.keys(),
      ...this.redacted.keys(),
    ]);
    const events = [...open].flatMap((block) => this.blockStop(block));
    if (!this.hasJson) {
      for (const text of this.heldTexts) events.push({ type: 'text', choice: 0, text });
    }
    const mapped = mapFinishReason('converse', reason);
    // The call that carries the text is not a tool call for the caller.
    const isAnswer = this.hasJson && this.toolCalls === 0 && mapped === 'tool_calls';
    events.push({
      type: 'finish',
      choice: 0,
      reason: isAnswer ? 'stop' : mapped,
      ...(stopSequence !== undefined && { stopSequence }),
    });
    return events;
  }

  private signedReasoning(block: number): CanonicalEvent[] {
    const { signatureIssuer, redactedIssuer } = this.options;
    const named: string[] = [];
    const signature = this.signatures.get(block);
    if (signature) named.push(nameSignature(signatureIssuer, signature));
    const redacted = this.redacted.get(block);
    if (redacted) {
      named.push(nameSignature(redactedIssuer, Buffer.concat(redacted).toString('base64')));
    }
    this.signatures.delete(block);
    this.redacted.delete(block);
    return named.map((signature) => ({ type: 'reasoning', choice: 0, text: '', signature }));
  }
}

/**
 * Reads an answer's usage. The vendor counts cached tokens separately from `inputTokens`, and reasoning as
 * output without its share. Undefined when there are no figures.
 */
export function readConverseUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  if (value.inputTokens === undefined && value.outputTokens === undefined) return undefined;
  const cacheReadTokens = toCount(value.cacheReadInputTokens);
  const cacheWriteTokens = toCount(value.cacheWriteInputTokens);
  return {
    ...NO_USAGE,
    inputTokens: toCount(value.inputTokens) + cacheReadTokens + cacheWriteTokens,
    outputTokens: toCount(value.outputTokens),
    cacheReadTokens,
    cacheWriteTokens,
    cacheWriteLongTokens: Math.min(cacheWriteTokens, readLongWrites(value.cacheDetails)),
  };
}

function readLongWrites(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  return details
    .filter(isJsonObject)
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens }) => sum + toCount(inputTokens), 0);
}

function toCount(value: unknown): number {
  return readTokenCount(value) ?? 0;
}

/** Returns the stop sequence that ended an answer, if requested and reported by the model. */
export function readStopSequence({
  additionalModelResponseFields,
}: JsonObject): string | undefined {
  const fields = additionalModelResponseFields;
  if (!isJsonObject(fields)) return undefined;
  const inner = isJsonObject(fields.delta) ? fields.delta : fields;
  return typeof inner.stop_sequence === 'string' ? inner.stop_sequence : undefined;
}
