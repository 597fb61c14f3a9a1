import { countCodePoints } from '../../../canonical/prompt-size.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/**
 * Characters (code points) that a content block brings: text, thoughts, and the names and
 * arguments of calls, as the canonical events of the same block would be counted.
 */
export function measureBlock(block: JsonObject): number {
  switch (block.type) {
    case 'text':
      return codePoints(block.text);
    case 'thinking':
      return codePoints(block.thinking);
    case 'tool_use':
      return codePoints(block.name) + measureInput(block.input);
    default:
      return 0;
  }
}

/** Characters that a delta brings. */
export function measureDelta(delta: JsonObject): number {
  switch (delta.type) {
    case 'text_delta':
      return codePoints(delta.text);
    case 'thinking_delta':
      return codePoints(delta.thinking);
    case 'input_json_delta':
      return codePoints(delta.partial_json);
    default:
      return 0;
  }
}

/** In a stream a call begins with an empty input, whose pieces follow. */
function measureInput(input: unknown): number {
  if (!isJsonObject(input) || Object.keys(input).length === 0) return 0;
  return countCodePoints(JSON.stringify(input));
}

function codePoints(value: unknown): number {
  return typeof value === 'string' ? countCodePoints(value) : 0;
}
