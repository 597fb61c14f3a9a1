import type {
  CanonicalMessage,
  CanonicalPrompt,
  MessagePart,
  ToolChoice,
  ToolDefinition,
} from '../../canonical/canonical-request.js';
import { toCacheControl, optional } from '../../canonical/prompt-parts.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { MessageParts } from './message-parts.js';

/** Fields that reach a vendor of any dialect, in this form or by other ways, or are the gateway's own. */
const READ_FIELDS = new Set([
  'model',
  'models',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'provider',
  'route',
  'trace',
  'transforms',
  'plugins',
  'usage',
]);

/** Members of objects that have a place in the canonical form; the others are left over. */
const READ_MEMBERS: Record<string, readonly string[]> = {
  metadata: ['user_id'],
  thinking: ['type', 'budget_tokens'],
  output_config: ['effort', 'format'],
  tool_choice: ['type', 'name', 'disable_parallel_tool_use'],
  tools: ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'],
};

const THINKING_TYPES = ['enabled', 'adaptive', 'disabled'];

/** The canonical conversation of a body that has been checked already. */
export function messagesPrompt(body: JsonObject): CanonicalPrompt {
  const leftOver = new Set(
    Object.keys(body).filter((key) => body[key] != null && !READ_FIELDS.has(key)),
  );
  const parts = new MessageParts(leftOver);
  const messages = [
    ...toSystemMessages(body.system, parts),
    ...(body.messages as JsonObject[]).flatMap((message) => toMessages(message, parts)),
  ];
  const tools = ((body.tools ?? []) as JsonObject[]).flatMap((tool) => toTool(tool, leftOver));
  for (const field of ['metadata', 'thinking', 'output_config', 'tool_choice']) {
    noteLeftOver(field, body[field], leftOver);
  }
  const choice = body.tool_choice as JsonObject | null | undefined;
  const isSerial = choice?.disable_parallel_tool_use;
  return {
    messages: withCacheControl(messages, body.cache_control),
    tools,
    toolChoice: toToolChoice(choice),
    parallelToolCalls: typeof isSerial === 'boolean' ? !isSerial : undefined,
    responseFormat: toResponseFormat(body),
    reasoning: toReasoning(body, leftOver),
    endUser: toEndUser(body.metadata),
    leftOver: [...leftOver],
    sampling: {
      ...optional('temperature', body.temperature as number | null | undefined),
      ...optional('topP', body.top_p as number | null | undefined),
      ...optional('topK', body.top_k as number | null | undefined),
      ...optional('stop', body.stop_sequences as string[] | null | undefined),
    },
  };
}

function toEndUser(metadata: unknown): string | undefined {
  const { user_id: userId } = isJsonObject(metadata) ? metadata : {};
  return typeof userId === 'string' ? userId : undefined;
}

function toSystemMessages(system: unknown, parts: MessageParts): CanonicalMessage[] {
  const content = parts.of(system);
  return content.length === 0 ? [] : [{ role: 'system', parts: content }];
}

/**
 * One message, or several where results of tools and other blocks stand side by side: results are
 * messages of their own in the canonical form. Their order stays.
 */
function toMessages({ role, content }: JsonObject, parts: MessageParts): CanonicalMessage[] {
  if (role !== 'user') {
    return [{ role: role as CanonicalMessage['role'], parts: parts.of(content) }];
  }
  const messages: { role: 'user' | 'tool'; parts: MessagePart[] }[] = [];
  for (const part of parts.of(content)) {
    const partRole = part.type === 'tool_result' ? 'tool' : 'user';
    const last = messages.at(-1);
    if (last?.role === partRole) last.parts.push(part);
    else messages.push({ role: partRole, parts: [part] });
  }
  return messages.length === 0 ? [{ role: 'user', parts: [] }] : messages;
}

/** A mark on the whole request stands for one on its last part that takes any. */
function withCacheControl(messages: CanonicalMessage[], control: unknown): CanonicalMessage[] {
  const cacheControl = toCacheControl(control);
  const last = messages.at(-1);
  const part = last?.parts.at(-1);
  if (!cacheControl || !last || !part || part.type === 'reasoning' || part.type === 'refusal') {
    return messages;
  }
  const marked = { ...part, cacheControl: part.cacheControl ?? cacheControl };
  return [...messages.slice(0, -1), { ...last, parts: [...last.parts.slice(0, -1), marked] }];
}

/** Tools whose definition only vendors of this dialect know have no place in the canonical form. */
function toTool(tool: JsonObject, leftOver: Set<string>): ToolDefinition[] {
  if (!isJsonObject(tool.input_schema)) {
    leftOver.add(`tools.${String(tool.type)}`);
    return [];
  }
  noteLeftOver('tools', tool, leftOver);
  return [
    {
      name: tool.name as string,
      parameters: tool.input_schema,
      ...optional('description', tool.description as string | null | undefined),
      ...optional('strict', tool.strict as boolean | null | undefined),
      ...optional('cacheControl', toCacheControl(tool.cache_control)),
    },
  ];
}

function toToolChoice(choice: JsonObject | null | undefined): ToolChoice | undefined {
  switch (choice?.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'any':
      return 'required';
    case 'tool':
      return { name: choice.name as string };
    default:
      return undefined;
  }
}

function toResponseFormat({ output_config }: JsonObject): CanonicalPrompt['responseFormat'] {
  const format = isJsonObject(output_config) ? output_config.format : undefined;
  if (!isJsonObject(format)) return undefined;
  return { type: 'json_schema', name: 'answer', schema: format.schema as Record<string, unknown> };
}

function toReasoning(
  { thinking, output_config }: JsonObject,
  leftOver: Set<string>,
): CanonicalPrompt['reasoning'] {
  const control = isJsonObject(thinking) ? thinking : {};
  const isKnown = THINKING_TYPES.includes(control.type as string);
  if (isJsonObject(thinking) && !isKnown) leftOver.add('thinking');
  const effort = isJsonObject(output_config) ? output_config.effort : undefined;
  if (!isKnown && effort == null) return undefined;
  return {
    ...optional('effort', effort as string | null | undefined),
    ...(isKnown && { enabled: control.type !== 'disabled' }),
    ...(control.type === 'enabled' && { maxTokens: control.budget_tokens as number }),
  };
}

function noteLeftOver(field: string, value: unknown, leftOver: Set<string>): void {
  if (!isJsonObject(value)) return;
  for (const member of Object.keys(value)) {
    if (value[member] != null && !READ_MEMBERS[field]?.includes(member)) {
      leftOver.add(`${field}.${member}`);
    }
  }
}
