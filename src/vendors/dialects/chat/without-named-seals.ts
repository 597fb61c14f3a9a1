import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/** Only the gateway puts a maker's name before a seal; vendors' own seals are base64. */
const NAMED_SEAL = /^[a-z][a-z0-9-]{0,40}:/;

/**
 * The messages without the reasoning that vendors of other dialects sealed and the gateway spelled
 * in this one. A vendor of this dialect has no place for it: some refuse the whole request for it,
 * and another maker's seals are none of its business. Reasoning of such a vendor's own stays.
 *
 * @returns undefined when there is nothing to do, as in most conversations
 */
export function withoutNamedSeals(messages: unknown): unknown[] | undefined {
  if (!Array.isArray(messages) || !messages.some(holdsNamedSeal)) return undefined;
  return messages.map((message: unknown) =>
    holdsNamedSeal(message) ? withoutReasoning(message) : message,
  );
}

function holdsNamedSeal(
  message: unknown,
): message is JsonObject & { reasoning_details: unknown[] } {
  if (!isJsonObject(message) || !Array.isArray(message.reasoning_details)) return false;
  return message.reasoning_details.some(isNamed);
}

/** The text beside the details says the same once more. */
function withoutReasoning({
  reasoning_details: details,
  reasoning_content: _text,
  ...rest
}: JsonObject & { reasoning_details: unknown[] }): JsonObject {
  const own = details.filter((detail) => !isNamed(detail));
  return own.length === 0 ? rest : { ...rest, reasoning_details: own };
}

function isNamed(detail: unknown): boolean {
  if (!isJsonObject(detail)) return false;
  const seal = detail.signature ?? detail.data;
  return typeof seal === 'string' && NAMED_SEAL.test(seal);
}
