import { at, isObject, parseJson, textAt, type JsonObject } from './json';
import type { Surface } from './conversation';

/** A function, or a vendor tool that is passed through unchanged. */
export type Tool = { name: string; description: string; parameters: JsonObject } | JsonObject;

/**
 * Parses tool definitions: a JSON list of functions in the format of any of the three APIs, or plain
 * `{name, description, parameters}`. Returns a user-facing error for invalid input.
 */
export function readTools(text: string): { tools: Tool[] } | { error: string } {
  if (text.trim() === '') return { tools: [] };
  const list = parseJson(text);
  if (!Array.isArray(list))
    return { error: 'Enter a JSON list: [{"name": "…", "parameters": {…}}]' };
  const tools: Tool[] = [];
  for (const [index, given] of list.entries()) {
    if (!isObject(given)) return { error: `Tool ${index + 1} must be an object.` };
    const inner = isObject(given['function']) ? given['function'] : given;
    const isFunction =
      given['type'] === undefined || ['function', 'custom'].includes(textAt(given, 'type'));
    const name = textAt(inner, 'name');
    if (!isFunction) {
      tools.push(given);
      continue;
    }
    if (name === '') return { error: `Tool ${index + 1} needs a name.` };
    const parameters = at(inner, 'parameters') ?? at(inner, 'input_schema') ?? EMPTY_SCHEMA;
    if (!isObject(parameters))
      return { error: `\`parameters\` of ${name} must be a JSON schema object.` };
    tools.push({ name, description: textAt(inner, 'description'), parameters });
  }
  return { tools };
}

const EMPTY_SCHEMA = { type: 'object', properties: {} };

/** Converts tools to the format of an API. */
export function toolsFor(surface: Surface, tools: readonly Tool[]): JsonObject[] {
  return tools.map((tool) => {
    if (!isPlain(tool)) return tool;
    const { name, description, parameters } = tool;
    const named = { name, ...(description !== '' && { description }) };
    switch (surface) {
      case 'chat':
        return { type: 'function', function: { ...named, parameters } };
      case 'messages':
        return { ...named, input_schema: parameters };
      case 'responses':
        return { type: 'function', ...named, parameters, strict: false };
    }
  });
}

function isPlain(
  tool: Tool,
): tool is { name: string; description: string; parameters: JsonObject } {
  return !('type' in tool) && 'parameters' in tool;
}
