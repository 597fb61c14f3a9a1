import { isJsonObject } from '../../platform/http/json-body.js';

/**
 * The `input` of a tool call as JSON text. A model may write arguments that are no JSON object, or
 * be cut off within them; they are shown whole as `INVALID_JSON`, the name under which this
 * dialect's vendor wants them back, so that the caller can tell and the model can mend it.
 */
export function toToolInput(args: string): string {
  if (args.trim() === '') return '{}';
  return isObjectText(args) ? args : JSON.stringify({ INVALID_JSON: args });
}

/** Whether the text is one whole JSON object. */
export function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
