import { isContent, type CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { unreadable } from '../../upstream-error.js';
import { classifyInlineChatError, assertNotFailed } from './classify-chat-error.js';
import { parseAnswerObject, objectsOf } from '../answer-json.js';
import { mapFinishReason } from '../map-finish-reason.js';
import { readChatUsage } from './read-chat-usage.js';
import { ToolCallAssembler } from './tool-call-assembler.js';

/**
 * Reads one choice of a chat answer: the deltas of a stream, or the message of a whole answer, which is
 * treated as a single delta.
 */
export class ChatChoiceDecoder {
  private readonly tools: ToolCallAssembler;
  isFinished = false;

  constructor(private readonly choice: number) {
    this.tools = new ToolCallAssembler(choice);
  }

  /**
   * Appends the events of a chunk's or an answer's choice, including its finish reason.
   *
   * @param delta the choice's `delta` or `message`
   */
  read(choice: JsonObject, delta: unknown, events: CanonicalEvent[]): void {
    if (isJsonObject(delta)) this.readMessage(delta, choice.logprobs, events);
    const { finish_reason: reason } = choice;
    // Some servers send an empty reason for "not yet".
    if (typeof reason === 'string' && reason !== '' && !this.isFinished) {
      this.finish(mapFinishReason('chat', reason), events);
    }
  }

  /** Ends the choice. @throws UpstreamError `unreadable` for an incomplete tool call */
  close(events: CanonicalEvent[]): void {
    this.tools.close(events);
  }

  private readMessage(delta: JsonObject, logprobs: unknown, events: CanonicalEvent[]): void {
    const { choice } = this;
    // Servers that support both names send the same text under both.
    const reasoning = delta.reasoning_content ?? delta.reasoning ?? reasoningOf(delta.content);
    if (typeof reasoning === 'string' && reasoning !== '') {
      events.push({ type: 'reasoning', choice, text: reasoning });
    }
    const text = textOf(delta.content);
    const given = hasLogprobs(logprobs) ? logprobs : undefined;
    if (text !== '' || given !== undefined) {
      events.push({ type: 'text', choice, text, ...(given !== undefined && { logprobs: given }) });
    }
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      events.push({ type: 'refusal', choice, text: delta.refusal });
    }
    if (!Array.isArray(delta.tool_calls)) return;
    for (const call of delta.tool_calls) if (isJsonObject(call)) this.tools.push(call, events);
  }

  /** Some vendors end a forced call with `stop`; it still counts as a tool call. */
  private finish(reason: string, events: CanonicalEvent[]): void {
    this.isFinished = true;
    this.close(events);
    const isCall = reason === 'stop' && this.tools.hasCalls;
    events.push({
      type: 'finish',
      choice: this.choice,
      reason: isCall ? 'tool_calls' : reason,
    });
  }
}

/**
 * Reads a whole chat completion for a caller of another dialect.
 *
 * @throws UpstreamError `unreadable` for an invalid answer, such as `{}`
 */
export function decodeChatAnswer(bytes: Buffer): CanonicalEvent[] {
  const answer = parseAnswerObject(bytes.toString('utf8'), 'an answer');
  if (answer.error != null) throw classifyInlineChatError(answer);
  const choices = objectsOf(answer.choices);
  const events: CanonicalEvent[] = [
    { type: 'start', ...(typeof answer.id === 'string' && { id: answer.id }) },
  ];
  for (const [position, choice] of choices.entries()) {
    assertNotFailed(choice);
    const decoder = new ChatChoiceDecoder(position);
    decoder.read(choice, choice.message, events);
    decoder.close(events);
  }
  if (!events.some(isContent)) {
    throw unreadable('an empty answer', 200);
  }
  const usage = readChatUsage(answer.usage, answer.service_tier);
  if (usage) events.push({ type: 'usage', usage });
  return events;
}

/** Returns the text, or joins the parts that some servers send instead. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part) => (isJsonObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

/** Returns the reasoning that some servers send as a content part. */
function reasoningOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  return objectsOf(content)
    .filter(({ type }) => type === 'thinking')
    .map(({ thinking }) => (typeof thinking === 'string' ? thinking : textOf(thinking)))
    .join('');
}

function hasLogprobs(logprobs: unknown): boolean {
  if (!isJsonObject(logprobs)) return false;
  return Array.isArray(logprobs.content) && logprobs.content.length > 0;
}
