import type { TranscriptionRequest, SpeechRequest } from '../../../canonical/work-request.js';

/** The format that a vendor is asked for, which may differ from the caller's. */
export type AskedFormat = string;

/** Fields that are the gateway's own, or another gateway's, or that are set below. */
const NOT_FORWARDED = new Set([
  'model',
  'models',
  'provider',
  'route',
  'trace',
  'transforms',
  'plugins',
  'usage',
  'stream',
  'stream_format',
  'response_format',
  'instructions',
]);

/** Fields that the gateway does not know go along: the dialect is the caller's. */
export function encodeSpeech(
  request: SpeechRequest,
  upstreamModel: string,
  takesInstructions: boolean,
): Buffer {
  const rest = Object.entries(request.body.value).filter(
    ([name, value]) => !NOT_FORWARDED.has(name) && value != null,
  );
  const { instructions, format } = request;
  return Buffer.from(
    JSON.stringify({
      ...Object.fromEntries(rest),
      model: upstreamModel,
      response_format: format,
      ...(takesInstructions && instructions !== undefined && { instructions }),
    }),
  );
}

/** The form's fields in order, the file apart. */
export function encodeTranscription(
  request: TranscriptionRequest,
  upstreamModel: string,
  format: AskedFormat,
): [string, string][] {
  const fields: [string, string][] = [
    ['model', upstreamModel],
    ['response_format', format],
  ];
  for (const [name, value] of Object.entries(request.body.value)) {
    if (NOT_FORWARDED.has(name) || value == null) continue;
    if (Array.isArray(value)) {
      for (const item of value) fields.push([`${name}[]`, spell(item)]);
    } else fields.push([name, spell(value)]);
  }
  return fields;
}

function spell(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
