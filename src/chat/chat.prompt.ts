import type {
  CanonicalMessage,
  CanonicalPrompt,
  MessagePart,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from '../canonical/canonical-request.js';
import { isJsonObject, type JsonObject } from '../common/http/json-body.js';

/** The canonical conversation of a chat body that has been checked already. */
export function chatPrompt(body: JsonObject): CanonicalPrompt {
  return {
    messages: (body.messages as JsonObject[]).map(toMessage),
    tools: ((body.tools ?? []) as JsonObject[]).flatMap(toTool),
    toolChoice: toToolChoice(body.tool_choice),
    parallelToolCalls: (body.parallel_tool_calls ?? undefined) as boolean | undefined,
    responseFormat: toResponseFormat(body.response_format),
    reasoning: toReasoning(body),
    sampling: {
      ...optional('temperature', body.temperature as number | null | undefined),
      ...optional('topP', body.top_p as number | null | undefined),
      ...optional('frequencyPenalty', body.frequency_penalty as number | null | undefined),
      ...optional('presencePenalty', body.presence_penalty as number | null | undefined),
      ...optional('seed', body.seed as number | null | undefined),
      ...optional('logitBias', body.logit_bias as Record<string, number> | null | undefined),
      ...optional('logprobs', body.logprobs as boolean | null | undefined),
      ...optional('topLogprobs', body.top_logprobs as number | null | undefined),
      ...optional('stop', toStop(body.stop)),
    },
  };
}

const ROLES: Record<string, CanonicalMessage['role']> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
};

function toMessage(message: JsonObject): CanonicalMessage {
  const role = ROLES[message.role as string] ?? 'user';
  const parts = toParts(message.content);
  if (role === 'tool') {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const toolCallId = (message.tool_call_id ?? message.name ?? '') as string;
    return { role, parts: [{ type: 'tool_result', toolCallId, text }] };
  }
  if (typeof message.refusal === 'string') parts.push({ type: 'refusal', text: message.refusal });
  for (const call of (message.tool_calls ?? []) as JsonObject[]) {
    const definition = (call.function ?? call.custom ?? {}) as JsonObject;
    parts.push({
      type: 'tool_call',
      id: call.id as string,
      name: definition.name as string,
      arguments: (definition.arguments ?? definition.input) as string,
    });
  }
  return { role, parts, ...optional('name', message.name as string | null | undefined) };
}

function toParts(content: unknown): MessagePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return (content as JsonObject[]).flatMap((part): MessagePart[] => {
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text as string }];
      case 'refusal':
        return [{ type: 'refusal', text: part.refusal as string }];
      case 'image_url': {
        const image = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url };
        const detail = typeof image.detail === 'string' ? { detail: image.detail } : {};
        return [{ type: 'image', url: image.url as string, ...detail }];
      }
      case 'input_audio': {
        const audio = (part.input_audio ?? {}) as JsonObject;
        return [{ type: 'audio', data: String(audio.data), format: String(audio.format) }];
      }
      case 'file': {
        const file = (part.file ?? {}) as JsonObject;
        const filename = typeof file.filename === 'string' ? { filename: file.filename } : {};
        const data = typeof file.file_data === 'string' ? file.file_data : '';
        return [{ type: 'file', data, ...filename }];
      }
      default:
        return [];
    }
  });
}

function toTool(tool: JsonObject): ToolDefinition[] {
  if (!isJsonObject(tool.function)) return [];
  const { name, description, parameters, strict } = tool.function;
  return [
    {
      name: name as string,
      ...optional('description', description as string | null | undefined),
      ...optional('parameters', parameters as Record<string, unknown> | null | undefined),
      ...optional('strict', strict as boolean | null | undefined),
    },
  ];
}

function toToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (isJsonObject(choice) && isJsonObject(choice.function)) {
    return { name: String(choice.function.name) };
  }
  return undefined;
}

function toResponseFormat(format: unknown): ResponseFormat | undefined {
  if (!isJsonObject(format)) return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema' || !isJsonObject(format.json_schema)) return { type: 'text' };
  const { name, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name: String(name),
    schema: isJsonObject(schema) ? schema : {},
    ...optional('strict', strict as boolean | null | undefined),
  };
}

function toReasoning(body: JsonObject): CanonicalPrompt['reasoning'] {
  const control = isJsonObject(body.reasoning) ? body.reasoning : {};
  const effort = (body.reasoning_effort ?? control.effort ?? undefined) as string | undefined;
  const maxTokens = (control.max_tokens ?? undefined) as number | undefined;
  if (effort === undefined && maxTokens === undefined) return undefined;
  return { ...optional('effort', effort), ...optional('maxTokens', maxTokens) };
}

function toStop(stop: unknown): string[] | undefined {
  if (typeof stop === 'string') return [stop];
  return Array.isArray(stop) ? (stop as string[]) : undefined;
}

function optional<Key extends string, Value>(
  key: Key,
  value: Value | null | undefined,
): { [K in Key]?: Value } {
  return value == null ? {} : ({ [key]: value } as { [K in Key]?: Value });
}
