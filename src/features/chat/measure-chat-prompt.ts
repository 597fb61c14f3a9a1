import type { AccountBoundParam, PromptSize } from '../../canonical/canonical-request.js';
import { PromptMeter } from '../../canonical/prompt-size.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { assertPart, compileSchema, requireString } from '../../platform/http/validate-body.js';
import {
  chatPartSchemas,
  customToolCallSchema,
  toolCallSchema,
  type ChatBody,
  type ChatMessage,
} from './chat-completion.schema.js';

/** Type guards of known parts. Measuring has validated every part of these types. */
export const isTextPart = compileSchema(chatPartSchemas.text);
export const isRefusalPart = compileSchema(chatPartSchemas.refusal);
export const isImagePart = compileSchema(chatPartSchemas.image_url);
export const isAudioPart = compileSchema(chatPartSchemas.input_audio);
export const isFilePart = compileSchema(chatPartSchemas.file);
export const isToolCall = compileSchema(toolCallSchema);
export const isCustomToolCall = compileSchema(customToolCallSchema);

/** Body members besides the messages that are part of the prompt. */
const PROMPT_MEMBERS = new Set(['response_format', 'prediction']);
const TOOL_MEMBERS = new Set(['tools', 'functions']);

/**
 * Message members that have their own rules or are framing. Servers may show any others to the
 * model.
 */
const MEASURED_FIELDS = new Set(['role', 'content', 'tool_calls', 'tool_call_id']);

export interface MeasuredPrompt {
  size: PromptSize;
  /** Part of `size` that `prediction` contributes. */
  predictedTokens: number;
  /** The first content part that refers to a vendor account. */
  accountBoundParam: AccountBoundParam | undefined;
}

/**
 * Validates what the schema cannot express and measures the messages for the hold, in one pass.
 * @throws InvalidRequestError naming the invalid message and part
 */
export function measureChatPrompt(body: JsonBody<ChatBody>): MeasuredPrompt {
  const meter = new PromptMeter();
  const measured: MeasuredPrompt = {
    size: meter.size(),
    predictedTokens: 0,
    accountBoundParam: undefined,
  };
  const messages = body.value.messages ?? [];
  for (const [index, message] of messages.entries()) {
    measureMessage(message, `messages.${index}`, meter, measured);
  }
  // Schemas are part of the prompt. Their byte length stands for characters.
  for (const { key, valueStart, valueEnd } of body.members) {
    if (PROMPT_MEMBERS.has(key)) meter.addBytes(valueEnd - valueStart);
    else if (TOOL_MEMBERS.has(key)) meter.addTools(valueEnd - valueStart);
    if (key === 'prediction' && body.value.prediction != null) {
      const predicted = new PromptMeter();
      predicted.addBytes(valueEnd - valueStart);
      measured.predictedTokens = predicted.size().tokens;
    }
  }
  measured.size = meter.size();
  return measured;
}

function measureMessage(
  message: ChatMessage,
  path: string,
  meter: PromptMeter,
  measured: MeasuredPrompt,
): void {
  meter.addMessage();
  const { content } = message;
  if (typeof content === 'string') {
    meter.addText(content);
  } else if (Array.isArray(content)) {
    for (let index = 0; index < content.length; index++) {
      measurePart(content[index]!, `${path}.content.${index}`, meter, measured);
    }
  } else if (message.role !== 'assistant' && message.role !== 'function') {
    throw new InvalidRequestError(`${path}.content`, `\`${path}.content\` is required.`);
  }
  if (message.role === 'tool' && typeof message.tool_call_id !== 'string') {
    throw new InvalidRequestError(`${path}.tool_call_id`, `\`${path}.tool_call_id\` is required.`);
  }
  for (const field of Object.keys(message)) {
    if (!MEASURED_FIELDS.has(field) && message[field] != null) meter.addJson(message[field]);
  }
  if (Array.isArray(message.tool_calls)) {
    for (let index = 0; index < message.tool_calls.length; index++) {
      measureToolCall(message.tool_calls[index]!, `${path}.tool_calls.${index}`, meter);
    }
  }
}

function measurePart(
  part: JsonObject,
  path: string,
  meter: PromptMeter,
  measured: MeasuredPrompt,
): void {
  switch (part.type) {
    case 'text':
      assertPart(isTextPart, part, path);
      meter.addText(part.text);
      return;
    case 'refusal':
      assertPart(isRefusalPart, part, path);
      meter.addText(part.refusal);
      return;
    case 'image_url':
      assertPart(isImagePart, part, path);
      meter.addImage(typeof part.image_url === 'string' ? part.image_url : part.image_url.url);
      return;
    case 'input_audio':
      assertPart(isAudioPart, part, path);
      meter.addAudio(part.input_audio.data, part.input_audio.format);
      return;
    case 'file': {
      const file = isJsonObject(part.file) ? part.file : {};
      meter.addDocument(file.file_data);
      if (file.file_id == null) {
        assertPart(isFilePart, part, path);
        return;
      }
      const param = `${path}.file.file_id`;
      measured.accountBoundParam ??= {
        param,
        message: `\`${param}\` refers to a file in a vendor account and is not available on shared capacity; send the file's data.`,
      };
      return;
    }
    default:
      // An unknown, newer part type: vendors of this dialect validate it.
      requireString(part.type, `${path}.type`);
      meter.addUnknown(part);
  }
}

function measureToolCall(call: JsonObject, path: string, meter: PromptMeter): void {
  if (call.type === 'custom') {
    assertPart(isCustomToolCall, call, path);
    meter.addText(call.custom.name);
    meter.addText(call.custom.input);
    return;
  }
  assertPart(isToolCall, call, path);
  meter.addText(call.function.name);
  meter.addText(call.function.arguments);
}
