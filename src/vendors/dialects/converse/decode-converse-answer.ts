import type { CanonicalEvent } from '../../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, unreadable } from '../../upstream-error.js';
import {
  ConverseAnswerReader,
  type ConverseAnswerOptions,
  readConverseUsage,
  readStopSequence,
} from './converse-answer-reader.js';
import { objectOf, parseAnswerObject } from '../answer-json.js';

/**
 * Decodes a whole answer of `Converse` as if it had been streamed.
 *
 * @throws UpstreamError `unreadable` for an invalid answer, `cut` without a stop reason
 */
export function decodeConverseAnswer(
  bytes: Buffer,
  options: ConverseAnswerOptions,
): CanonicalEvent[] {
  const answer = parseAnswerObject(bytes.toString('utf8'), 'an answer');
  const message = isJsonObject(answer.output) ? answer.output.message : undefined;
  const content = isJsonObject(message) ? message.content : undefined;
  if (!Array.isArray(content)) throw unreadable('an answer without a message');
  const reader = new ConverseAnswerReader(options);
  const events: CanonicalEvent[] = [{ type: 'start' }];
  for (const [index, block] of content.entries()) {
    if (!isJsonObject(block)) continue;
    for (const event of readBlock(block, index, reader)) events.push(event);
  }
  if (typeof answer.stopReason !== 'string') {
    throw new UpstreamError({ failure: 'cut', message: 'an answer without a stop reason' });
  }
  for (const event of reader.stop(answer.stopReason, readStopSequence(answer))) events.push(event);
  const usage = readConverseUsage(answer.usage);
  if (usage) events.push({ type: 'usage', usage });
  return events;
}

function readBlock(
  block: JsonObject,
  index: number,
  reader: ConverseAnswerReader,
): CanonicalEvent[] {
  const { text, toolUse, reasoningContent: reasoning, citationsContent: cited } = block;
  if (typeof text === 'string') return reader.text(text);
  if (isJsonObject(toolUse)) return readToolUse(toolUse, index, reader);
  if (isJsonObject(reasoning)) return readReasoning(reasoning, index, reader);
  if (isJsonObject(cited) && Array.isArray(cited.content)) {
    const texts = cited.content.filter(isJsonObject).map((part) => part.text);
    return texts.flatMap((part) => (typeof part === 'string' ? reader.text(part) : []));
  }
  return [];
}

function readToolUse(
  { toolUseId, name, input }: JsonObject,
  index: number,
  reader: ConverseAnswerReader,
): CanonicalEvent[] {
  if (typeof toolUseId !== 'string' || typeof name !== 'string') {
    throw unreadable('a tool call without an id or a name');
  }
  return [
    ...reader.toolStart(index, toolUseId, name),
    ...reader.toolInput(index, JSON.stringify(input ?? {})),
    ...reader.blockStop(index),
  ];
}

function readReasoning(
  { reasoningText, redactedContent }: JsonObject,
  index: number,
  reader: ConverseAnswerReader,
): CanonicalEvent[] {
  const { text, signature } = objectOf(reasoningText);
  return [
    ...(typeof text === 'string' ? reader.reasoning(text) : []),
    ...(typeof signature === 'string' ? reader.signature(index, signature) : []),
    ...(typeof redactedContent === 'string'
      ? reader.redactedReasoning(index, redactedContent)
      : []),
    ...reader.blockStop(index),
  ];
}
