import type { CanonicalPrompt, ToolDefinition } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import type { ModelTraits } from './model-traits.js';
import { restrictSchema } from './restrict-schema.js';

export interface EncodedTools {
  tools?: { functionDeclarations: JsonObject[] }[];
  toolConfig?: { functionCallingConfig: FunctionCallingConfig };
}

interface FunctionCallingConfig {
  mode: 'AUTO' | 'NONE' | 'ANY' | 'VALIDATED';
  allowedFunctionNames?: string[];
}

/** Tools and which of them may or must be called; empty where there are none. */
export function encodeTools(prompt: CanonicalPrompt, traits: ModelTraits): EncodedTools {
  const { tools } = prompt;
  if (tools.length === 0 || !offersTools(prompt, traits)) return {};
  const functionCallingConfig = encodeChoice(prompt);
  return {
    tools: [{ functionDeclarations: tools.map(encodeTool) }],
    ...(functionCallingConfig && { toolConfig: { functionCallingConfig } }),
  };
}

/** Whether the answer has to be a tool call. */
export function mustCallTool({ tools, toolChoice }: CanonicalPrompt): boolean {
  return tools.length > 0 && (toolChoice === 'required' || typeof toolChoice === 'object');
}

/** Tools that may not be called are left out where they would stand in the way of a JSON answer. */
export function offersTools(
  { tools, toolChoice, responseFormat }: CanonicalPrompt,
  { formatsBesideTools }: ModelTraits,
): boolean {
  const isInTheWay = !formatsBesideTools && (responseFormat?.type ?? 'text') !== 'text';
  return tools.length > 0 && !(toolChoice === 'none' && isInTheWay);
}

function encodeTool({ name, description, parameters }: ToolDefinition): JsonObject {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters && { parametersJsonSchema: restrictSchema(parameters).schema }),
  };
}

function encodeChoice({ tools, toolChoice }: CanonicalPrompt): FunctionCallingConfig | undefined {
  const isStrict = tools.some((tool) => tool.strict === true);
  switch (toolChoice) {
    case undefined:
      return isStrict ? { mode: 'VALIDATED' } : undefined;
    case 'auto':
      return { mode: isStrict ? 'VALIDATED' : 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    default:
      return { mode: 'ANY', allowedFunctionNames: [toolChoice.name] };
  }
}
