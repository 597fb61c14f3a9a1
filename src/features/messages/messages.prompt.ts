import type {
  CanonicalMessage,
  CanonicalPrompt,
  MessagePart,
  ToolChoice,
  ToolDefinition,
} from '../../canonical/canonical-request.js';
import { membersRead, samplingReader } from '../../canonical/prompt-field-table.js';
import { toCacheControl, optional } from '../../canonical/prompt-parts.js';
import { GATEWAY_FIELDS } from '../../canonical/routing-fields.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { MessageParts } from './message-parts.js';
import type { Message, MessageTool, PromptBody } from './messages.schema.js';
import { BETA_FIELD } from './messages.vendor.js';

/** Fields that the canonical form carries in some way, or that belong to the gateway. */
const READ_FIELDS = new Set<string>([
  ...GATEWAY_FIELDS,
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'tools',
  'cache_control',
  BETA_FIELD,
  ...membersRead('messages'),
]);
/** Token counting ignores sampling options, so they can have any type there. */
const readSampling = samplingReader('messages');

/** Object members that the canonical form has. Others are dropped. */
const READ_MEMBERS: Record<string, readonly string[]> = {
  metadata: ['user_id'],
  thinking: ['type', 'budget_tokens'],
  output_config: ['effort', 'format'],
  tool_choice: ['type', 'name', 'disable_parallel_tool_use'],
  tools: ['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'],
};

const THINKING_TYPES = ['enabled', 'adaptive', 'disabled'];

/** Converts a validated body to the canonical prompt. */
export function messagesPrompt(body: PromptBody): CanonicalPrompt {
  const droppedFields = new Set(
    Object.keys(body).filter((key) => body[key] != null && !READ_FIELDS.has(key)),
  );
  const parts = new MessageParts(droppedFields);
  const messages = [
    ...toSystemMessages(body.system, parts),
    ...(body.messages ?? []).flatMap((message) => toMessages(message, parts)),
  ];
  const tools = (body.tools ?? []).flatMap((tool) => toTool(tool, droppedFields));
  for (const field of ['metadata', 'thinking', 'output_config', 'tool_choice']) {
    noteDropped(field, body[field], droppedFields);
  }
  const choice = isOfLostTool(body, tools) ? undefined : body.tool_choice;
  if (choice !== body.tool_choice) droppedFields.add('tool_choice');
  const isSerial = choice?.disable_parallel_tool_use;
  return {
    messages: withCacheControl(messages, body.cache_control),
    tools,
    toolChoice: toToolChoice(choice),
    parallelToolCalls: typeof isSerial === 'boolean' ? !isSerial : undefined,
    responseFormat: toResponseFormat(body),
    reasoning: toReasoning(body, droppedFields),
    endUser: toEndUser(body.metadata),
    droppedFields: [...droppedFields],
    sampling: readSampling(body),
  };
}

function toEndUser(metadata: unknown): string | undefined {
  const { user_id: userId } = isJsonObject(metadata) ? metadata : {};
  return typeof userId === 'string' ? userId : undefined;
}

function toSystemMessages(system: PromptBody['system'], parts: MessageParts): CanonicalMessage[] {
  const content = parts.of(system);
  return content.length === 0 ? [] : [{ role: 'system', parts: content }];
}

/**
 * Splits a message with tool results, which are separate messages in the canonical form. Keeps the
 * order.
 */
function toMessages({ role, content }: Message, parts: MessageParts): CanonicalMessage[] {
  if (role !== 'user') return [{ role, parts: parts.of(content) }];
  const messages: { role: 'user' | 'tool'; parts: MessagePart[] }[] = [];
  for (const part of parts.of(content)) {
    const partRole = part.type === 'tool_result' ? 'tool' : 'user';
    const last = messages.at(-1);
    if (last?.role === partRole) last.parts.push(part);
    else messages.push({ role: partRole, parts: [part] });
  }
  return messages.length === 0 ? [{ role: 'user', parts: [] }] : messages;
}

/** A mark on the request applies to its last part that supports one. */
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

/** Tools defined by this dialect's vendor have no canonical form. */
function toTool(tool: MessageTool, droppedFields: Set<string>): ToolDefinition[] {
  const { name, input_schema: parameters } = tool;
  if (!parameters || name === undefined) {
    droppedFields.add(`tools.${tool.type ?? 'custom'}`);
    return [];
  }
  noteDropped('tools', tool, droppedFields);
  return [
    {
      name,
      parameters,
      ...optional('description', tool.description),
      ...optional('strict', tool.strict),
      ...optional('cacheControl', toCacheControl(tool.cache_control)),
    },
  ];
}

/** Returns whether the choice requires a dropped tool, which vendors of other dialects reject. */
function isOfLostTool(
  { tools: given, tool_choice: choice }: PromptBody,
  tools: readonly ToolDefinition[],
): boolean {
  if (choice?.type === 'any') return tools.length === 0 && (given ?? []).length > 0;
  if (choice?.type !== 'tool' || tools.some(({ name }) => name === choice.name)) return false;
  return given?.some(({ name }) => name === choice.name) ?? false;
}

function toToolChoice(choice: PromptBody['tool_choice']): ToolChoice | undefined {
  switch (choice?.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'any':
      return 'required';
    case 'tool':
      return choice.name == null ? undefined : { name: choice.name };
    default:
      return undefined;
  }
}

function toResponseFormat({ output_config }: PromptBody): CanonicalPrompt['responseFormat'] {
  const schema = output_config?.format?.schema;
  return schema && { type: 'json_schema', name: 'answer', schema };
}

function toReasoning(
  { thinking, output_config }: PromptBody,
  droppedFields: Set<string>,
): CanonicalPrompt['reasoning'] {
  const isKnown = thinking != null && THINKING_TYPES.includes(thinking.type);
  if (thinking && !isKnown) droppedFields.add('thinking');
  const effort = output_config?.effort;
  if (!isKnown && effort == null) return undefined;
  return {
    ...optional('effort', effort),
    ...(isKnown && { enabled: thinking.type !== 'disabled' }),
    ...(isKnown && thinking.type === 'enabled' && optional('maxTokens', thinking.budget_tokens)),
  };
}

function noteDropped(field: string, value: unknown, droppedFields: Set<string>): void {
  if (!isJsonObject(value)) return;
  for (const member of Object.keys(value)) {
    if (value[member] != null && !READ_MEMBERS[field]?.includes(member)) {
      droppedFields.add(`${field}.${member}`);
    }
  }
}
