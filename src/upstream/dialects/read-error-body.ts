import { isJsonObject, type JsonObject } from '../../common/http/json-body.js';

/**
 * The error that a body holds: `{error: {…}}`, or what compatible servers make of it,
 * `{error: "…"}` and `{message: "…"}`. Empty for a body that is no JSON object.
 */
export function readErrorBody(body: unknown): JsonObject {
  if (!isJsonObject(body)) return {};
  if (isJsonObject(body.error)) return body.error;
  if (typeof body.error === 'string') return { message: body.error };
  return body;
}
