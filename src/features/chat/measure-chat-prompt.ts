import type { AccountBoundParam, PromptSize } from '../../canonical/canonical-request.js';
import { PromptMeter } from '../../canonical/prompt-size.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonBody, type JsonObject } from '../../platform/http/json-body.js';
import { requireString } from '../../platform/http/validate-body.js';

/** Members beside the messages that the model reads as well. */
const PROMPT_MEMBERS = new Set(['response_format', 'prediction']);
const TOOL_MEMBERS = new Set(['tools', 'functions']);

/** An upper figure for parts whose tokens cannot be told from their length. */
const TOKENS_PER_UNKNOWN = 20_000;

export interface MeasuredPrompt {
  size: PromptSize;
  /** The first content part that names a thing in the vendor account. */
  accountBoundParam: AccountBoundParam | undefined;
}

/**
 * Walks the messages once: checks what the schema cannot say, and measures them for the hold.
 *
 * @throws InvalidRequestError naming the message and part at fault
 */
export function measureChatPrompt(body: JsonBody): MeasuredPrompt {
  const meter = new PromptMeter();
  const measured: MeasuredPrompt = { size: meter.size(), accountBoundParam: undefined };
  const messages = body.value.messages as JsonObject[];
  for (const [index, message] of messages.entries()) {
    measureMessage(message, `messages.${index}`, meter, measured);
  }
  // Schemas are prompt text as well; their length in bytes stands for their characters.
  for (const { key, valueStart, valueEnd } of body.members) {
    if (PROMPT_MEMBERS.has(key)) meter.addBytes(valueEnd - valueStart);
    else if (TOOL_MEMBERS.has(key)) meter.addTools(valueEnd - valueStart);
  }
  measured.size = meter.size();
  return measured;
}

function measureMessage(
  message: JsonObject,
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
      const part = content[index] as JsonObject;
      measurePart(part, `${path}.content.${index}`, meter, measured);
    }
  } else if (message.role !== 'assistant' && message.role !== 'function') {
    throw new InvalidRequestError(`${path}.content`, `\`${path}.content\` is required.`);
  }
  if (message.role === 'tool' && typeof message.tool_call_id !== 'string') {
    throw new InvalidRequestError(`${path}.tool_call_id`, `\`${path}.tool_call_id\` is required.`);
  }
  for (const field of ['name', 'refusal', 'reasoning_content', 'reasoning']) {
    const text = message[field];
    if (typeof text === 'string') meter.addText(text);
  }
  if (Array.isArray(message.reasoning_details)) {
    for (const detail of message.reasoning_details) {
      if (isJsonObject(detail) && typeof detail.text === 'string') meter.addText(detail.text);
    }
  }
  if (isJsonObject(message.function_call)) {
    for (const text of [message.function_call.name, message.function_call.arguments]) {
      if (typeof text === 'string') meter.addText(text);
    }
  }
  if (Array.isArray(message.tool_calls)) {
    for (let index = 0; index < message.tool_calls.length; index++) {
      const call = message.tool_calls[index] as JsonObject;
      measureToolCall(call, `${path}.tool_calls.${index}`, meter);
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
      meter.addText(requireString(part.text, `${path}.text`));
      return;
    case 'refusal':
      meter.addText(requireString(part.refusal, `${path}.refusal`));
      return;
    case 'image_url': {
      const image = part.image_url;
      requireString(isJsonObject(image) ? image.url : image, `${path}.image_url.url`);
      meter.addImage();
      return;
    }
    case 'input_audio': {
      const audio = isJsonObject(part.input_audio) ? part.input_audio : {};
      meter.addAudio(audio.data, audio.format);
      return;
    }
    case 'file': {
      const file = isJsonObject(part.file) ? part.file : {};
      meter.addDocument(file.file_data);
      if (file.file_id != null) {
        const param = `${path}.file.file_id`;
        measured.accountBoundParam ??= {
          param,
          message: `\`${param}\` names a file in a vendor account and is not available on shared capacity; send the file's data.`,
        };
      }
      return;
    }
    default:
      // A part that came after this was written: for a vendor of the same dialect to judge.
      requireString(part.type, `${path}.type`);
      meter.addTokens(TOKENS_PER_UNKNOWN);
  }
}

function measureToolCall(call: JsonObject, path: string, meter: PromptMeter): void {
  requireString(call.id, `${path}.id`);
  if (call.type === 'custom') {
    const custom = isJsonObject(call.custom) ? call.custom : {};
    meter.addText(requireString(custom.name, `${path}.custom.name`));
    meter.addText(requireString(custom.input, `${path}.custom.input`));
    return;
  }
  const definition = isJsonObject(call.function) ? call.function : {};
  meter.addText(requireString(definition.name, `${path}.function.name`));
  meter.addText(requireString(definition.arguments, `${path}.function.arguments`));
}
