import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { requireString } from '../../platform/http/validate-body.js';
import type { ChatMessage } from './chat-completion.schema.js';

/**
 * Converts Responses-style `input` to chat `messages`: a string becomes a user message; items
 * become messages, function calls and outputs. Consecutive calls form one assistant turn.
 * @throws InvalidRequestError naming the invalid item
 */
export function translateResponsesInput(input: string | JsonObject[]): ChatMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (input.length === 0) {
    throw new InvalidRequestError('input', '`input` must contain at least one item.');
  }
  const messages: ChatMessage[] = [];
  for (const [index, item] of input.entries()) {
    const path = `input.${index}`;
    switch (item.type ?? 'message') {
      case 'message':
        messages.push(translateMessage(item, path));
        break;
      case 'function_call':
        appendToolCall(messages, item, path);
        break;
      case 'function_call_output':
        messages.push({
          role: 'tool',
          tool_call_id: requireString(item.call_id, `${path}.call_id`),
          content: translateOutput(item.output, `${path}.output`),
        });
        break;
      default:
        throw new InvalidRequestError(
          `${path}.type`,
          `Chat completions do not support items of type ${JSON.stringify(String(item.type).slice(0, 60))}. Use POST /v1/responses.`,
        );
    }
  }
  return messages;
}

const ROLES = ['system', 'developer', 'user', 'assistant'] as const;

function translateMessage(item: JsonObject, path: string): ChatMessage {
  const role = ROLES.find((known) => known === item.role);
  if (role === undefined) {
    throw new InvalidRequestError(
      `${path}.role`,
      `\`${path}.role\` must be one of ${ROLES.map((known) => `"${known}"`).join(', ')}.`,
    );
  }
  if (typeof item.content === 'string') return { role, content: item.content };
  if (!Array.isArray(item.content)) {
    throw new InvalidRequestError(
      `${path}.content`,
      `\`${path}.content\` must be a string or an array.`,
    );
  }
  const content = item.content.map((part, index) =>
    translatePart(part, `${path}.content.${index}`),
  );
  return { role, content };
}

function translatePart(part: unknown, path: string): JsonObject {
  if (!isJsonObject(part)) throw new InvalidRequestError(path, `\`${path}\` must be an object.`);
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: requireString(part.text, `${path}.text`) };
    case 'refusal':
      return { type: 'refusal', refusal: requireString(part.refusal, `${path}.refusal`) };
    case 'input_image': {
      const url = requireString(part.image_url, `${path}.image_url`);
      const detail = typeof part.detail === 'string' ? { detail: part.detail } : {};
      return { type: 'image_url', image_url: { url, ...detail } };
    }
    case 'input_file': {
      const { filename, file_data, file_id } = part;
      if (file_data == null && file_id == null) {
        throw new InvalidRequestError(
          `${path}.file_data`,
          `\`${path}.file_data\` is required. Chat completions do not support file URLs.`,
        );
      }
      return { type: 'file', file: { filename, file_data, file_id } };
    }
    default:
      throw new InvalidRequestError(
        `${path}.type`,
        `\`${path}.type\` must be "input_text", "output_text", "refusal", "input_image" or "input_file".`,
      );
  }
}

function appendToolCall(messages: ChatMessage[], item: JsonObject, path: string): void {
  const call = {
    id: requireString(item.call_id, `${path}.call_id`),
    type: 'function',
    function: {
      name: requireString(item.name, `${path}.name`),
      arguments: requireString(item.arguments, `${path}.arguments`),
    },
  };
  const last = messages.at(-1);
  if (last?.role === 'assistant') {
    // Appended in place, since there can be a hundred thousand.
    (last.tool_calls ??= []).push(call);
  } else {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  }
}

function translateOutput(output: unknown, path: string): string | JsonObject[] {
  if (!Array.isArray(output)) return requireString(output, path);
  return output.map((part, index) => translatePart(part, `${path}.${index}`));
}
