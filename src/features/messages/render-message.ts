import type { CollectedAnswer, CollectedChoice } from '../../canonical/collect.js';
import { scanTopLevelMembers, spliceMembers } from '../../platform/http/top-level-members.js';
import {
  isRedactedThought,
  spellCallSeal,
  spellRedactedData,
  spellSignature,
} from './message-seals.js';
import { toMessagesUsage } from './to-messages-usage.js';
import { toStopReason } from './to-stop-reason.js';
import { toToolInput } from './tool-input.js';

/** Spells a whole answer as a message. */
export function renderMessage(answer: CollectedAnswer, requestId: string): Buffer {
  const usage = toMessagesUsage(answer.settled.usage);
  if (answer.relay) {
    const { bytes, usage: relayedUsage } = answer.relay;
    if (relayedUsage) return bytes;
    // The vendor gave no usage: what is charged is shown in its place.
    const edits = new Map([['usage', JSON.stringify(usage)]]);
    return spliceMembers(bytes, scanTopLevelMembers(bytes).members, edits);
  }
  const [choice] = answer.choices;
  const { finishReason, stopSequence, toolCalls = [] } = choice ?? {};
  const stopReason = toStopReason({ finishReason, stopSequence, callsTools: toolCalls.length > 0 });
  const head = {
    id: messageId(requestId),
    type: 'message',
    role: 'assistant',
    model: answer.route.model,
    stop_reason: stopReason,
    stop_sequence: stopSequence ?? null,
    usage,
  };
  const content = choice ? renderContent(choice).join(',') : '';
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"content":[${content}]}`);
}

/** The id of an answer that was not relayed, which already has its vendor's. */
export function messageId(requestId: string): string {
  return `msg_${requestId.replaceAll('-', '')}`;
}

/** The blocks as JSON texts; tool inputs stand in them as the model wrote them. */
function renderContent({ reasoning, text, refusal, toolCalls }: CollectedChoice): string[] {
  const blocks = reasoning.flatMap(renderReasoning);
  for (const said of [text, refusal]) {
    if (said !== '') blocks.push(JSON.stringify({ type: 'text', text: said }));
  }
  // A vendor may leave out a position among its calls.
  for (const { id, name, arguments: args, seal } of toolCalls.filter(Boolean)) {
    if (seal !== undefined) blocks.push(redactedThinking(spellCallSeal(id, seal)));
    const head = JSON.stringify({ type: 'tool_use', id, name }).slice(0, -1);
    blocks.push(`${head},"input":${toToolInput(args)}}`);
  }
  return blocks;
}

function renderReasoning({ text, seal }: CollectedChoice['reasoning'][number]): string[] {
  if (text === '') {
    const data = seal === undefined ? undefined : spellRedactedData(seal);
    if (data !== undefined) return [redactedThinking(data)];
  }
  if (seal === undefined) return [thinking(text, '')];
  if (!isRedactedThought(seal)) return [thinking(text, spellSignature(seal))];
  return [thinking(text, ''), redactedThinking(spellRedactedData(seal) ?? seal)];
}

function thinking(text: string, signature: string): string {
  return JSON.stringify({ type: 'thinking', thinking: text, signature });
}

function redactedThinking(data: string): string {
  return JSON.stringify({ type: 'redacted_thinking', data });
}
