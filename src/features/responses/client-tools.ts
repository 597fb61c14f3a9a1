import { isJsonObject } from '../../platform/http/json-body.js';

/**
 * Custom tools take free text instead of JSON. For vendors that only know functions such a tool is
 * a function with one argument, `input`; what the model writes there is the text.
 */
export const CUSTOM_TOOL_PARAMETERS = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};

/** The names of the request's custom tools. */
export function customToolNames(tools: unknown): ReadonlySet<string> {
  const given = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  const names = given.map(({ type, name }) => (type === 'custom' ? name : undefined));
  return new Set(names.filter((name) => typeof name === 'string'));
}

export function toFunctionArguments(input: string): string {
  return JSON.stringify({ input });
}

/** The text of a custom call; arguments that are not as asked for are the text themselves. */
export function fromFunctionArguments(args: string): string {
  try {
    const parsed: unknown = JSON.parse(args);
    if (isJsonObject(parsed) && typeof parsed.input === 'string') return parsed.input;
  } catch {
    // Not JSON at all.
  }
  return args;
}
