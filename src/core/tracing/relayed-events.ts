import type { CanonicalEvent, RelayEvent } from '../../canonical/canonical-event.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { ChatStreamDecoder } from '../../vendors/dialects/chat/chat-stream-decoder.js';
import { decodeChatAnswer } from '../../vendors/dialects/chat/decode-chat-answer.js';
import { decodeMessagesAnswer } from '../../vendors/dialects/messages/read-messages-answer.js';
import { MessagesStreamDecoder } from '../../vendors/dialects/messages/messages-stream-decoder.js';

/** Reasoning is shown, not sent back, so it does not matter who sealed it. */
const MESSAGES = { signatureIssuer: '', jsonTool: undefined };

/** Reads what was relayed unread, as far as it can be read. */
export function relayedEvents(relays: readonly RelayEvent[], streamed: boolean): CanonicalEvent[] {
  const [first] = relays;
  if (!first) return [];
  try {
    if (first.dialect === 'responses') return readResponse(relays, streamed);
    if (!streamed) {
      return first.dialect === 'chat'
        ? decodeChatAnswer(first.bytes)
        : decodeMessagesAnswer(first.bytes, MESSAGES);
    }
    const decoder =
      first.dialect === 'chat' ? new ChatStreamDecoder() : new MessagesStreamDecoder(MESSAGES);
    return relays.flatMap(({ bytes }) => decoder.push(bytes));
  } catch {
    // The vendor's answer is not what it should be; its caller has it as it is.
    return [];
  }
}

/** A response's last event repeats the whole of it; one that broke off is not read. */
function readResponse(relays: readonly RelayEvent[], streamed: boolean): CanonicalEvent[] {
  const last = relays.at(-1);
  const whole = last?.answer ?? (streamed ? undefined : parse(last?.bytes));
  const items = Array.isArray(whole?.output) ? whole.output.filter(isJsonObject) : [];
  let calls = 0;
  return items.flatMap((item): CanonicalEvent[] => {
    if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      const index = calls++;
      return [
        { type: 'tool_call', choice: 0, index, id: text(item.call_id), name: text(item.name) },
        { type: 'tool_arguments', choice: 0, index, text: text(item.arguments ?? item.input) },
      ];
    }
    const parts = [item.summary, item.content].flatMap((list) =>
      Array.isArray(list) ? list.filter(isJsonObject) : [],
    );
    return parts.map((part) => ({
      type: part.type === 'refusal' ? 'refusal' : item.type === 'reasoning' ? 'reasoning' : 'text',
      choice: 0,
      text: text(part.text ?? part.refusal),
    }));
  });
}

function parse(bytes: Buffer | undefined): JsonObject | undefined {
  const value: unknown = bytes && JSON.parse(bytes.toString('utf8'));
  return isJsonObject(value) ? value : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
