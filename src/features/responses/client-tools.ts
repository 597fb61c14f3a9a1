import { createHash } from 'node:crypto';
import type { ToolDefinition } from '../../canonical/canonical-request.js';
import { optional } from '../../canonical/prompt-parts.js';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/**
 * Tools that the caller runs and only vendors of this dialect know. For all others each is a function,
 * whose calls come back as the items that the caller expects.
 */

/** What a call of a function is in this dialect. */
export interface CallForm {
  type:
    | 'function_call'
    | 'custom_tool_call'
    | 'local_shell_call'
    | 'shell_call'
    | 'apply_patch_call'
    | 'tool_search_call';
  /** As the caller calls the tool. */
  name: string;
  namespace?: string;
}

/** A tool as a function, and what its calls are. */
export interface ClientTool {
  definition: ToolDefinition;
  form: CallForm;
}

/** Items that a model asks for a tool with, other than plain functions, by the tool's name. */
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

/** Free text in place of JSON is the one argument of a function. */
const CUSTOM_TOOL_PARAMETERS = {
  type: 'object',
  properties: { input: text },
  required: ['input'],
  additionalProperties: false,
};

/** The built-in tools that take no definition of the caller's. */
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
        description: "Creates, updates or deletes one of the user's files by a diff.",
        parameters: {
          type: 'object',
          properties: {
            type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
            path: text,
            diff: { ...text, description: 'V4A diff; left out to delete a file.' },
          },
          required: ['type', 'path'],
        },
      },
    },
  ],
]);

/** Whether a type is that of a tool which needs no name: there is one of it. */
export function isBuiltInTool(type: unknown): type is string {
  return [...BUILT_IN_CALLS.values()].some((name) => name === type);
}

/** Whether the caller runs a tool, so that it costs tokens only. */
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

/** One tool of the caller's as functions; none where it is no tool that the caller runs. */
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
 * All functions that the model is given: those of the body's tools, and those that its caller has found
 * for it in earlier turns.
 */
export function clientFunctions(tools: unknown, input: unknown): ClientTool[] {
  const found = toolsOf(input).flatMap((item) =>
    item.type === 'tool_search_output' ? toolsOf(item.tools) : [],
  );
  const functions = [...toolsOf(tools), ...found].flatMap(toFunctions);
  // One that is found again is the same.
  return [...new Map(functions.map((tool) => [tool.definition.name, tool])).values()];
}

/** What the functions are called that stand for these tools. */
export function namesOfFunctions(tools: unknown): string[] {
  return toolsOf(tools)
    .flatMap(toFunctions)
    .map(({ definition }) => definition.name);
}

/** What a function is called that may stand in a namespace. */
export function functionName(name: string, namespace: unknown): string {
  if (typeof namespace !== 'string' || namespace === '') return name;
  const joined = namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`;
  if (joined.length <= MAX_NAME_LENGTH) return joined;
  const digest = createHash('sha256').update(joined).digest('hex').slice(0, 8);
  return `${joined.slice(0, MAX_NAME_LENGTH - 9)}_${digest}`;
}
