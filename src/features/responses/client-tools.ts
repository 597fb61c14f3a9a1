import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../../canonical/canonical-request.js';
import { optional } from '../../canonical/prompt-parts.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/**
 * Tools that the caller runs and only Responses vendors know. For other vendors each becomes a
 * function, and its calls are translated back.
 */

/** How this dialect represents a function's calls. */
export interface CallForm {
  type:
    | 'function_call'
    | 'custom_tool_call'
    | 'local_shell_call'
    | 'shell_call'
    | 'apply_patch_call'
    | 'tool_search_call';
  /** Tool name as the caller knows it. */
  name: string;
  namespace?: string;
}

/** A tool's function definition and call form. */
export interface ClientTool {
  definition: ToolDefinition;
  form: CallForm;
}

/** Call item types of built-in tools, by tool name. */
export const BUILT_IN_CALLS: ReadonlyMap<unknown, string> = new Map([
  ['local_shell_call', 'local_shell'],
  ['shell_call', 'shell'],
  ['apply_patch_call', 'apply_patch'],
  ['tool_search_call', 'tool_search'],
]);

const MAX_NAME_LENGTH = 64;
const text = { type: 'string' };
const texts = { type: 'array', items: text };
const whole = { type: 'integer' };

/** Free-form text becomes the only argument of a function. */
const CUSTOM_TOOL_PARAMETERS = {
  type: 'object',
  properties: { input: text },
  required: ['input'],
  additionalProperties: false,
};

/** Built-in tools without a definition by the caller. */
const BUILT_IN_TOOLS: ReadonlyMap<string, Pick<ClientTool, 'form' | 'definition'>> = new Map([
  [
    'local_shell',
    {
      form: { type: 'local_shell_call', name: 'local_shell' },
      definition: {
        name: 'local_shell',
        description: "Runs a command on the user's machine.",
        parameters: {
          type: 'object',
          properties: { command: texts, working_directory: text, timeout_ms: whole },
          required: ['command'],
        },
      },
    },
  ],
  [
    'shell',
    {
      form: { type: 'shell_call', name: 'shell' },
      definition: {
        name: 'shell',
        description: "Runs shell commands on the user's machine.",
        parameters: {
          type: 'object',
          properties: { commands: texts, timeout_ms: whole, max_output_length: whole },
          required: ['commands'],
        },
      },
    },
  ],
  [
    'apply_patch',
    {
      form: { type: 'apply_patch_call', name: 'apply_patch' },
      definition: {
        name: 'apply_patch',
        description: "Creates, updates or deletes one of the user's files with a diff.",
        parameters: {
          type: 'object',
          properties: {
            type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
            path: text,
            diff: { ...text, description: 'V4A diff; omit to delete a file.' },
          },
          required: ['type', 'path'],
        },
      },
    },
  ],
]);

/** Returns whether the type is a built-in tool, which needs no name. */
export function isBuiltInTool(type: unknown): type is string {
  return [...BUILT_IN_CALLS.values()].some((name) => name === type);
}

/** Returns whether the caller runs the tool, so that it costs only tokens. */
export function isClientTool(tool: JsonObject): boolean {
  switch (tool.type) {
    case 'function':
    case 'custom':
    case 'local_shell':
    case 'apply_patch':
      return true;
    case 'tool_search':
      return tool.execution === 'client';
    case 'shell':
      return tool.environment == null || isLocal(tool.environment);
    case 'namespace':
      return toolsOf(tool.tools).every(({ type }) => type === 'function' || type === 'custom');
    default:
      return false;
  }
}

function isLocal(environment: unknown): boolean {
  return isJsonObject(environment) && environment.type === 'local';
}

/** Converts one tool to functions; empty for tools that the vendor runs. */
export function toFunctions(tool: JsonObject): ClientTool[] {
  if (tool.type === 'namespace') {
    const namespace = typeof tool.name === 'string' ? tool.name : '';
    return toolsOf(tool.tools).flatMap((inner) => toFunction(inner, namespace));
  }
  return toFunction(tool);
}

function toFunction(tool: JsonObject, namespace?: string): ClientTool[] {
  const { type, name } = tool;
  if (!isClientTool(tool)) return [];
  const builtIn = BUILT_IN_TOOLS.get(String(type));
  if (builtIn) return [builtIn];
  if (type === 'tool_search') {
    const form = { type: 'tool_search_call', name: 'tool_search' } as const;
    const parameters = isJsonObject(tool.parameters) ? tool.parameters : { type: 'object' };
    return [{ form, definition: { ...describe(tool), name: form.name, parameters } }];
  }
  if (typeof name !== 'string') return [];
  const isCustom = type === 'custom';
  const parameters = isCustom
    ? CUSTOM_TOOL_PARAMETERS
    : isJsonObject(tool.parameters)
      ? tool.parameters
      : undefined;
  const strict = typeof tool.strict === 'boolean' ? tool.strict : undefined;
  return [
    {
      form: {
        type: isCustom ? 'custom_tool_call' : 'function_call',
        name,
        ...optional('namespace', namespace),
      },
      definition: {
        name: functionName(name, namespace),
        ...describe(tool),
        ...optional('parameters', parameters),
        ...optional('strict', strict),
      },
    },
  ];
}

function describe({ description }: JsonObject): { description?: string } {
  return typeof description === 'string' ? { description } : {};
}

function toolsOf(tools: unknown): JsonObject[] {
  return Array.isArray(tools) ? tools.filter(isJsonObject) : [];
}

/**
 * Returns all functions of the request: its tools, and tools that tool search returned in earlier
 * turns.
 */
export function clientFunctions(tools: unknown, input: unknown): ClientTool[] {
  const found = toolsOf(input).flatMap((item) =>
    item.type === 'tool_search_output' ? toolsOf(item.tools) : [],
  );
  const functions = [...toolsOf(tools), ...found].flatMap(toFunctions);
  // A tool found twice is the same tool.
  return [...new Map(functions.map((tool) => [tool.definition.name, tool])).values()];
}

/** Returns the function names of these tools. */
export function namesOfFunctions(tools: unknown): string[] {
  return toolsOf(tools)
    .flatMap(toFunctions)
    .map(({ definition }) => definition.name);
}

/** Returns the function name of a tool, which may be in a namespace. */
export function functionName(name: string, namespace: unknown): string {
  if (typeof namespace !== 'string' || namespace === '') return name;
  const joined = namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
  if (joined.length <= MAX_NAME_LENGTH) return joined;
  const digest = createHash('sha256').update(joined).digest('hex').slice(0, 8);
  return `${joined.slice(0, MAX_NAME_LENGTH - 9)}_${digest}`;
}
