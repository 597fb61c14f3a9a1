import { isJsonObject } from '../../platform/http/json-body.js';

/** What a collector did not take of a request that it answered with 200. */
export interface PartialSuccess {
  readonly rejectedSpans: number;
  /** Fit for the tenant: how a sentence about the receiver ends. */
  readonly reason: string;
}

const MAX_MESSAGE_CHARACTERS = 500;

/**
 * Reads the `partialSuccess` of an `ExportTraceServiceResponse` in JSON.
 *
 * @param answer the body of a 2xx; anything else than such a response says nothing
 * @returns undefined when all was taken
 */
export function readPartialSuccess(answer: string | undefined): PartialSuccess | undefined {
  const partial = parse(answer)?.partialSuccess;
  if (!isJsonObject(partial)) return undefined;
  // 64-bit integers are strings in protobuf's JSON, and numbers to some who write it.
  const rejectedSpans = Number(partial.rejectedSpans ?? 0);
  if (!Number.isSafeInteger(rejectedSpans) || rejectedSpans <= 0) return undefined;
  const { errorMessage } = partial;
  const words = typeof errorMessage === 'string' ? errorMessage.trim() : '';
  const said = words === '' ? '' : `: ${words.slice(0, MAX_MESSAGE_CHARACTERS).toWellFormed()}`;
  return { rejectedSpans, reason: `rejected ${rejectedSpans} spans${said}` };
}

function parse(text: string | undefined): Record<string, unknown> | undefined {
  if (!text?.includes('partialSuccess')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
