import { at, isObject, parseJson, textAt, type JsonObject } from './json';
import type { Surface } from './conversation';

/** A tool as each API has it. Those that a vendor runs itself go as they are. */
export type Tool = { name: string; description: string; parameters: JsonObject } | JsonObject;

/**
 * Reads what was typed as tools: a list, of functions in the form of any of the three APIs, or plain as
 * `{name, description, parameters}`.
 *
 * @returns what is wrong with it, for who typed it
 */
export function readTools(text: string): { tools: Tool[] } | { fault: string } {
  if (text.trim() === '') return { tools: [] };
  const list = parseJson(text);
  if (!Array.isArray(list))
    return { fault: 'Tools are a JSON list: [{"name": "…", "parameters": {…}}]' };
  const tools: Tool[] = [];
  for (const [index, given] of list.entries()) {
    if (!isObject(given)) return { fault: `Tool ${index + 1} is no object.` };
    const inner = isObject(given['function']) ? given['function'] : given;
    const isFunction =
      given['type'] === undefined || ['function', 'custom'].includes(textAt(given, 'type'));
    const name = textAt(inner, 'name');
    if (!isFunction) {
      tools.push(given);
      continue;
    }
    if (name === '') return { fault: `Tool ${index + 1} has no name.` };
    const parameters = at(inner, 'parameters') ?? at(inner, 'input_schema') ?? EMPTY_SCHEMA;
    if (!isObject(parameters)) return { fault: `The parameters of ${name} are no JSON schema.` };
    tools.push({ name, description: textAt(inner, 'description'), parameters });
  }
  return { tools };
}

const EMPTY_SCHEMA = { type: 'object', properties: {} };

/** Tools in the words of an API. */
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
