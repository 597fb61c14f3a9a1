import type {
  CanonicalPrompt,
  ResponseFormat,
  ToolCallPart,
  ToolDefinition,
} from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError, unsupported } from '../../upstream-error.js';
import { JSON_INSTRUCTION, unusedToolName } from '../tool-calls.js';
import { encodeCacheControl } from './encode-messages-turns.js';
import type { MessagesModelTraits } from './messages-vendor.js';
import { toClosedSchema } from './to-closed-schema.js';

/** Name of the tool that carries the answer. */
const JSON_TOOL = 'json_answer';

/** The encoded tools and JSON options. */
export interface MessagesTools {
  tools: object[];
  toolChoice: JsonObject | undefined;
  /** `output_config.format` */
  format: object | undefined;
  /** The tool whose arguments are the answer's text, for models without another way to force JSON. */
  jsonTool: string | undefined;
  /** A sentence for the system prompt that asks for JSON when nothing else can. */
  jsonInstruction: string | undefined;
  /** True when the answer must be a tool call, which excludes thinking. */
  isForced: boolean;
  dropped: string[];
}

/** Names from `fieldName` of the fields that may be rejected here. */
export interface ToolFieldNames {
  toolChoice: string;
  responseFormat: string;
}

const OPEN_OBJECT = { type: 'object' };

/**
 * Encodes tools, tool choice, and JSON formats.
 *
 * @throws UpstreamError `unsupported` for a choice or format that cannot be enforced on the model
 */
export function encodeTools(
  prompt: CanonicalPrompt,
  traits: MessagesModelTraits,
  names: ToolFieldNames,
): MessagesTools {
  const dropped: string[] = [];
  const tools = prompt.tools.map((tool) => encodeTool(tool, traits, dropped));
  const choice = encodeChoice(prompt, names);
  const isForced = choice?.type === 'any' || choice?.type === 'tool';
  if (isForced && !traits.forcedToolChoice) {
    throw unsupported(names.toolChoice, 'This model cannot be forced to call a tool; use `auto`.');
  }
  const plain = {
    dropped,
    format: undefined,
    jsonTool: undefined,
    jsonInstruction: undefined,
  };
  // A format would have no text to apply to.
  if (isForced) return { ...plain, tools, toolChoice: choice, isForced };

  const output = encodeFormat(prompt.responseFormat, traits, names.responseFormat);
  if (output.schema) {
    const jsonTool = unusedToolName(prompt.tools, JSON_TOOL);
    const description = 'Gives the answer. Call this to answer, with the answer as arguments.';
    const mayCall = tools.length > 0 && prompt.toolChoice !== 'none';
    return {
      ...plain,
      tools: [...tools, { name: jsonTool, description, input_schema: output.schema }],
      toolChoice: mayCall
        ? { type: 'any', ...noParallel(prompt) }
        : { type: 'tool', name: jsonTool, disable_parallel_tool_use: true },
      jsonTool,
      isForced: true,
    };
  }
  const text = { ...plain, format: output.format, jsonInstruction: output.instruction, isForced };
  if (tools.length === 0) {
    const called = toolsOfHistory(prompt);
    const toolChoice = called.length > 0 ? { type: 'none' } : undefined;
    return { ...text, tools: called, toolChoice };
  }
  return { ...text, tools, toolChoice: choice };
}

function encodeTool(tool: ToolDefinition, traits: MessagesModelTraits, dropped: string[]): object {
  const { name, description, parameters, strict, cacheControl } = tool;
  const schema = { ...OPEN_OBJECT, ...(parameters ?? { properties: {} }) };
  const closed = strict && traits.structuredOutput ? toClosedSchema(schema) : undefined;
  if (strict && !closed) dropped.push('tools.strict');
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: closed ?? schema,
    ...(closed && { strict: true }),
    ...encodeCacheControl(cacheControl),
  };
}

function encodeChoice(prompt: CanonicalPrompt, names: ToolFieldNames): JsonObject | undefined {
  const { toolChoice, tools } = prompt;
  if (tools.length === 0) {
    if (toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') {
      return undefined;
    }
    throw new UpstreamError({
      failure: 'caller',
      message: `\`${names.toolChoice}\` demands a tool, and there are no \`tools\`.`,
      param: names.toolChoice,
    });
  }
  if (typeof toolChoice === 'object') {
    return { type: 'tool', name: toolChoice.name, ...noParallel(prompt) };
  }
  switch (toolChoice) {
    case 'none':
      return { type: 'none' };
    case 'required':
      return { type: 'any', ...noParallel(prompt) };
    case 'auto':
      return { type: 'auto', ...noParallel(prompt) };
    case undefined:
      return prompt.parallelToolCalls === false
        ? { type: 'auto', ...noParallel(prompt) }
        : undefined;
  }
}

function noParallel({ parallelToolCalls }: CanonicalPrompt): JsonObject {
  return parallelToolCalls === false ? { disable_parallel_tool_use: true } : {};
}

/** Returns the vendor's own format, or the schema of the tool that replaces it, or a prompt instruction. */
function encodeFormat(
  format: ResponseFormat | undefined,
  traits: MessagesModelTraits,
  name: string,
): { format?: object; schema?: JsonObject; instruction?: string } {
  if (!format || format.type === 'text') return {};
  if (format.type === 'json_object') {
    return traits.forcedToolChoice ? { schema: OPEN_OBJECT } : { instruction: JSON_INSTRUCTION };
  }
  const closed = traits.structuredOutput ? toClosedSchema(format.schema) : undefined;
  if (closed) return { format: { type: 'json_schema', schema: closed } };
  if (beginsWithObject(format.schema) && traits.forcedToolChoice) {
    return { schema: { ...OPEN_OBJECT, ...format.schema } };
  }
  throw unsupported(
    name,
    'This schema cannot be enforced on this model: start with an object, close all objects with `additionalProperties: false`, and avoid recursion.',
  );
}

/** Returns whether the schema can describe a tool's arguments. */
function beginsWithObject(schema: JsonObject): boolean {
  if ('anyOf' in schema || 'oneOf' in schema || 'allOf' in schema || '$ref' in schema) return false;
  return (schema.type ?? 'object') === 'object';
}

/** Declares every tool that was called earlier. The vendor requires it even if none may be called now. */
function toolsOfHistory({ messages }: CanonicalPrompt): object[] {
  const calls = messages
    .flatMap(({ parts }) => parts)
    .filter((part): part is ToolCallPart => part.type === 'tool_call');
  const names = new Set(calls.map(({ name }) => name));
  return [...names].map((name) => ({ name, input_schema: OPEN_OBJECT }));
}
