import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { BUILT_IN_CALLS, namesOfFunctions, type CallForm } from './client-tools.js';
import type { BuiltInCallItem, CustomToolCallItem, FunctionCallItem } from './response-object.js';

/** Id prefixes of call items. */
export const CALL_PREFIXES: Readonly<Record<CallForm['type'], string>> = {
  function_call: 'fc',
  custom_tool_call: 'ctc',
  local_shell_call: 'lsh',
  shell_call: 'sh',
  apply_patch_call: 'apc',
  tool_search_call: 'tsc',
};

export type CallItem = FunctionCallItem | CustomToolCallItem | BuiltInCallItem;

/** Creates the call item in the form that the caller expects. */
export function newCallItem(
  { type, name, namespace }: CallForm,
  id: string,
  callId: string,
): CallItem {
  const status = 'in_progress';
  const named = { call_id: callId, name, ...(namespace !== undefined && { namespace }) };
  switch (type) {
    case 'function_call':
      return { id, type, status, ...named, arguments: '' };
    case 'custom_tool_call':
      return { id, type, status, ...named, input: '' };
    default:
      return { id, type, status, call_id: callId, ...builtInMembers(type, '') };
  }
}

export function toFunctionArguments(input: string): string {
  return JSON.stringify({ input });
}

/** Returns the text of a custom call. Malformed arguments are taken as the text. */
export function fromFunctionArguments(args: string): string {
  const { input } = parseArguments(args);
  return typeof input === 'string' ? input : args;
}

/** Reads a built-in tool's call as a function call; undefined for other items. */
export function readBuiltInCall(
  item: JsonObject,
): { id: string; name: string; arguments: string } | undefined {
  const name = BUILT_IN_CALLS.get(item.type);
  const id = item.call_id ?? item.id;
  if (name === undefined || typeof id !== 'string') return undefined;
  const { type: _exec, ...action } = isJsonObject(item.action) ? item.action : {};
  const given = item.type === 'apply_patch_call' ? item.operation : item.arguments;
  return { id, name, arguments: JSON.stringify(isJsonObject(given) ? given : action) };
}

/** Reads a built-in tool's output as text; undefined for other items. */
export function readBuiltInOutput({ type, output, status, tools }: JsonObject): string | undefined {
  switch (type) {
    case 'tool_search_output':
      return JSON.stringify({ tools: namesOfFunctions(tools) });
    case 'local_shell_call_output':
    case 'shell_call_output':
    case 'apply_patch_call_output':
      return typeof output === 'string' ? output : JSON.stringify(output ?? status ?? '');
    default:
      return undefined;
  }
}

/**
 * Returns the type-specific members of a built-in call; defaults before the arguments are
 * complete.
 */
export function builtInMembers(type: CallForm['type'], args: string): JsonObject {
  const given = parseArguments(args);
  switch (type) {
    case 'local_shell_call':
      return { action: { type: 'exec', command: [], env: {}, ...given } };
    case 'shell_call': {
      const action = { commands: [], timeout_ms: null, max_output_length: null, ...given };
      return { action, environment: { type: 'local' } };
    }
    case 'apply_patch_call':
      return { operation: given };
    default:
      return { execution: 'client', arguments: given };
  }
}

function parseArguments(args: string): JsonObject {
  try {
    const parsed: unknown = JSON.parse(args);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
