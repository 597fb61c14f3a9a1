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

/** Guards of the parts that are known here; a body that has been measured holds no other ones of their types. */
export const isTextPart = compileSchema(chatPartSchemas.text);
export const isRefusalPart = compileSchema(chatPartSchemas.refusal);
export const isImagePart = compileSchema(chatPartSchemas.image_url);
export const isAudioPart = compileSchema(chatPartSchemas.input_audio);
export const isFilePart = compileSchema(chatPartSchemas.file);
export const isToolCall = compileSchema(toolCallSchema);
export const isCustomToolCall = compileSchema(customToolCallSchema);

/** Members beside the messages that the model reads as well. */
const PROMPT_MEMBERS = new Set(['response_format', 'prediction']);
const TOOL_MEMBERS = new Set(['tools', 'functions']);

/** Members of a message with rules of their own, or of its framing. Of others servers may show their models anything. */
const MEASURED_FIELDS = new Set(['role', 'content', 'tool_calls', 'tool_call_id']);

export interface MeasuredPrompt {
  size: PromptSize;
  /** Of `prediction` alone, which counts in `size` as well. */
  predictedTokens: number;
  /** The first content part that names a thing in the vendor account. */
  accountBoundParam: AccountBoundParam | undefined;
}

/**
 * Goes through the messages once: checks what the schema cannot say, and measures them for the hold.
 *
 * @throws InvalidRequestError naming the message and part at fault
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
  // Schemas are prompt text as well; their length in bytes stands for their characters.
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
        message: `\`${param}\` names a file in a vendor account and is not available on shared capacity; send the file's data.`,
      };
      return;
    }
    default:
      // A part that came after this was written: for a vendor of the same dialect to judge.
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
