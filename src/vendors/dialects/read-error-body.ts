import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';

/**
 * The error that a body holds: `{error: {…}}`, or what compatible servers make of it,
 * `{error: "…"}`, `{message: "…"}`, FastAPI's `{detail: "…"}` and `{detail: [{loc, msg}]}`, and
 * Google's `[{error: {…}}]`. Empty for any other body.
 */
export function readErrorBody(body: unknown): JsonObject {
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(whole)) return {};
  if (isJsonObject(whole.error)) return whole.error;
  if (typeof whole.error === 'string') return { ...whole, message: whole.error };
  return whole.message === undefined && whole.detail != null ? readDetail(whole.detail) : whole;
}

function readDetail(detail: unknown): JsonObject {
  const first: unknown = Array.isArray(detail) ? detail[0] : detail;
  if (!isJsonObject(first)) return { message: first };
  const place: unknown[] = Array.isArray(first.loc) ? first.loc : [];
  const path = place.filter((step) => step !== 'body').join('.');
  return { message: first.msg, ...(path !== '' && { param: path }) };
}
