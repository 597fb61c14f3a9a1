import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

/** The stop sequence that ended an answer, where it was asked for and the model names it. */
export function readStopSequence({
  additionalModelResponseFields,
}: JsonObject): string | undefined {
  const fields = additionalModelResponseFields;
  if (!isJsonObject(fields)) return undefined;
  const inner = isJsonObject(fields.delta) ? fields.delta : fields;
  return typeof inner.stop_sequence === 'string' ? inner.stop_sequence : undefined;
}
