import type {
  CanonicalMessage,
  CanonicalPrompt,
  MessagePart,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from '../../canonical/canonical-request.js';
import { readMediaSource, toCacheControl, optional } from '../../canonical/prompt-parts.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
/** Fields that reach a vendor of any dialect, in this form or by other ways, or are the gateway's own. */
const READ_FIELDS = new Set([
  'model',
  'models',
  'messages',
  'input',
  'stream',
  'stream_options',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'user',
  'provider',
  'route',
  'trace',
  'transforms',
  'plugins',
  'usage',
]);

/** Members of `reasoning` that have a place in the canonical form. */
const READ_REASONING: ReadonlySet<string> = new Set(['effort', 'max_tokens', 'enabled']);

const READ_PARTS: ReadonlySet<unknown> = new Set([
  'text',
  'refusal',
  'image_url',
  'input_audio',
  'file',
]);

/** The canonical conversation of a chat body that has been checked already. */
export function chatPrompt(body: JsonObject): CanonicalPrompt {
  const { tools, toolChoice, leftOver } = readChatTools(body);
  return {
    messages: (body.messages as JsonObject[]).map(toMessage),
    tools,
    toolChoice,
    parallelToolCalls: (body.parallel_tool_calls ?? undefined) as boolean | undefined,
    responseFormat: toResponseFormat(body.response_format),
    reasoning: toReasoning(body),
    endUser: (body.user ?? undefined) as string | undefined,
    leftOver: [
      ...Object.keys(body).filter((key) => body[key] != null && !READ_FIELDS.has(key)),
      ...leftOver,
      ...leftOverReasoning(body.reasoning),
      ...leftOverParts(body.messages as JsonObject[]),
    ],
    sampling: {
      ...optional('temperature', body.temperature as number | null | undefined),
      ...optional('topP', body.top_p as number | null | undefined),
      ...optional('topK', typeof body.top_k === 'number' ? body.top_k : undefined),
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
    const toolCallId = (message.tool_call_id ?? message.name ?? '') as string;
    const content = parts.filter(
      (part) => part.type === 'text' || part.type === 'image' || part.type === 'document',
    );
    return { role, parts: [{ type: 'tool_result', toolCallId, parts: content }] };
  }
  if (typeof message.refusal === 'string') parts.push({ type: 'refusal', text: message.refusal });
  const details = readReasoningDetails(message.reasoning_details);
  for (const call of (message.tool_calls ?? []) as JsonObject[]) {
    const definition = (call.function ?? call.custom ?? {}) as JsonObject;
    parts.push({
      type: 'tool_call',
      id: call.id as string,
      name: definition.name as string,
      arguments: (definition.arguments ?? definition.input) as string,
      ...optional('seal', details.sealsOfCalls.get(call.id as string)),
    });
  }
  return {
    role,
    parts: [...details.parts, ...parts],
    ...optional('name', message.name as string | null | undefined),
  };
}

function toParts(content: unknown): MessagePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return (content as JsonObject[]).flatMap((part): MessagePart[] => {
    const cacheControl = optional('cacheControl', toCacheControl(part.cache_control));
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text as string, ...cacheControl }];
      case 'refusal':
        return [{ type: 'refusal', text: part.refusal as string }];
      case 'image_url': {
        const image = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url };
        const detail = typeof image.detail === 'string' ? { detail: image.detail } : {};
        const source = readMediaSource(image.url as string);
        return [{ type: 'image', source, ...detail, ...cacheControl }];
      }
      case 'input_audio': {
        const audio = (part.input_audio ?? {}) as JsonObject;
        return [{ type: 'audio', data: String(audio.data), format: String(audio.format) }];
      }
      case 'file': {
        const file = (part.file ?? {}) as JsonObject;
        const filename = typeof file.filename === 'string' ? { filename: file.filename } : {};
        const source = readMediaSource(typeof file.file_data === 'string' ? file.file_data : '');
        return [{ type: 'document', source, ...filename, ...cacheControl }];
      }
      default:
        return [];
    }
  });
}

/**
 * The reasoning of an earlier turn as the answer showed it: texts with their seals, and the seals
 * of single tool calls, which carry the call's id.
 */
function readReasoningDetails(value: unknown): {
  parts: MessagePart[];
  sealsOfCalls: Map<string, string>;
} {
  const parts: MessagePart[] = [];
  const sealsOfCalls = new Map<string, string>();
  for (const detail of Array.isArray(value) ? value.filter(isJsonObject) : []) {
    const seal = detail.signature ?? detail.data;
    if (typeof detail.id === 'string' && typeof seal === 'string') {
      sealsOfCalls.set(detail.id, seal);
      continue;
    }
    const text = typeof detail.text === 'string' ? detail.text : '';
    parts.push({ type: 'reasoning', text, ...(typeof seal === 'string' && { seal }) });
  }
  return { parts, sealsOfCalls };
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
  const enabled = typeof control.enabled === 'boolean' ? control.enabled : undefined;
  if (effort === undefined && maxTokens === undefined && enabled === undefined) return undefined;
  return {
    ...optional('effort', effort),
    ...optional('maxTokens', maxTokens),
    ...optional('enabled', enabled),
  };
}

/** Wishes such as `exclude` and `summary`; what is false is not wished for. */
function leftOverReasoning(control: unknown): string[] {
  if (!isJsonObject(control)) return [];
  return Object.keys(control)
    .filter((key) => !READ_REASONING.has(key) && control[key] != null && control[key] !== false)
    .map((key) => `reasoning.${key}`);
}

/** Parts of kinds that the canonical form does not know. */
function leftOverParts(messages: readonly JsonObject[]): string[] {
  return messages.flatMap(({ content }, index) =>
    (Array.isArray(content) ? (content as JsonObject[]) : []).flatMap(({ type }, at) =>
      READ_PARTS.has(type) ? [] : [`messages.${index}.content.${at}`],
    ),
  );
}

function toStop(stop: unknown): string[] | undefined {
  if (typeof stop === 'string') return [stop];
  return Array.isArray(stop) ? (stop as string[]) : undefined;
}

/** The tools that the model may call, and how it has to choose among them. */
interface ChatTools {
  tools: ToolDefinition[];
  toolChoice: ToolChoice | undefined;
  /** Paths of what the canonical form has no place for. */
  leftOver: string[];
}

/** Reads `tools` and `tool_choice`; of tools only functions have a canonical form. */
function readChatTools({ tools, tool_choice: choice }: JsonObject): ChatTools {
  const given = (tools ?? []) as JsonObject[];
  const allowed = readAllowedTools(choice);
  const toolChoice = allowed ? allowed.mode : toToolChoice(choice);
  const leftOver = given.flatMap(({ function: definition }, index) =>
    isJsonObject(definition) ? [] : [`tools.${index}`],
  );
  if (choice != null && toolChoice === undefined) leftOver.push('tool_choice');
  return {
    tools: given.flatMap(toTool).filter(({ name }) => !allowed || allowed.names.has(name)),
    toolChoice,
    leftOver,
  };
}

/** A choice that leaves only some of the tools, which for other dialects are all there are. */
function readAllowedTools(
  choice: unknown,
): { mode: 'auto' | 'required'; names: ReadonlySet<unknown> } | undefined {
  if (!isJsonObject(choice) || choice.type !== 'allowed_tools') return undefined;
  const { allowed_tools: allowed } = choice;
  if (!isJsonObject(allowed) || !Array.isArray(allowed.tools)) return undefined;
  const names = allowed.tools
    .filter(isJsonObject)
    .map(({ function: definition }) => (isJsonObject(definition) ? definition.name : undefined));
  return { mode: allowed.mode === 'required' ? 'required' : 'auto', names: new Set(names) };
}

function toToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (isJsonObject(choice) && isJsonObject(choice.function)) {
    return { name: String(choice.function.name) };
  }
  return undefined;
}

function toTool(tool: JsonObject): ToolDefinition[] {
  if (!isJsonObject(tool.function)) return [];
  const { name, description, parameters, strict } = tool.function;
  const cacheControl = tool.cache_control ?? tool.function.cache_control;
  return [
    {
      name: name as string,
      ...optional('description', description as string | null | undefined),
      ...optional('parameters', parameters as Record<string, unknown> | null | undefined),
      ...optional('strict', strict as boolean | null | undefined),
      ...optional('cacheControl', toCacheControl(cacheControl)),
    },
  ];
}
