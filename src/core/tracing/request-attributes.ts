import type { Attributes } from '@opentelemetry/api';
import { isJsonObject, type JsonObject } from '../../platform/http/json-body.js';
import { isTextRequest, type RoutableRequest } from '../../canonical/work-request.js';
import { GEN_AI } from './span-draft.js';

/** Attribute names of numeric body members, in any dialect. */
const NUMBERS: readonly (readonly [string, string])[] = [
  ['temperature', GEN_AI.requestTemperature],
  ['top_p', GEN_AI.requestTopP],
  ['top_k', GEN_AI.requestTopK],
  ['frequency_penalty', GEN_AI.requestFrequencyPenalty],
  ['presence_penalty', GEN_AI.requestPresencePenalty],
  ['seed', GEN_AI.requestSeed],
  ['dimensions', GEN_AI.embeddingsDimensionCount],
];

const MAX_STOP_SEQUENCES = 16;
const MAX_STOP_CHARACTERS = 256;

/** Output types by kind of work, as the conventions name them. */
const OUTPUT_TYPES: Readonly<Record<string, string>> = {
  speech: 'speech',
  transcription: 'text',
  image: 'image',
  video: 'video',
};

/** Returns the requested text type in the conventions' words; undefined without one. */
function textType({ response_format, text, output_config }: JsonObject): string | undefined {
  const format = [
    response_format,
    isJsonObject(text) ? text.format : undefined,
    isJsonObject(output_config) ? output_config.format : undefined,
  ].find(isJsonObject);
  if (typeof format?.type !== 'string') return undefined;
  return format.type.startsWith('json') ? 'json' : 'text';
}

/** Returns the request's options, without its texts. */
export function requestAttributes(request: RoutableRequest): Attributes {
  const { value } = request.body;
  const attributes: Attributes = {
    [GEN_AI.requestModel]: request.models[0],
    [GEN_AI.requestStream]: request.stream,
  };
  for (const [field, name] of NUMBERS) {
    const number = value[field];
    if (typeof number !== 'number') continue;
    if (Number.isSafeInteger(number) || !Number.isInteger(number)) attributes[name] = number;
  }
  if (typeof value.encoding_format === 'string') {
    attributes[GEN_AI.requestEncodingFormats] = [value.encoding_format.slice(0, 64)];
  }
  if (!isTextRequest(request)) {
    const type = OUTPUT_TYPES[request.kind];
    if (type !== undefined) attributes[GEN_AI.outputType] = type;
    return attributes;
  }
  const type = textType(value);
  if (type !== undefined) attributes[GEN_AI.outputType] = type;
  const stop = value.stop ?? value.stop_sequences;
  const stops: unknown[] = Array.isArray(stop) ? stop : [stop];
  const sequences = stops
    .filter((sequence) => typeof sequence === 'string')
    .slice(0, MAX_STOP_SEQUENCES)
    .map((sequence) => sequence.slice(0, MAX_STOP_CHARACTERS).toWellFormed());
  if (sequences.length > 0) attributes[GEN_AI.requestStopSequences] = sequences;
  if (request.choices !== 1) attributes[GEN_AI.requestChoiceCount] = request.choices;
  if (request.maxOutputTokens !== undefined) {
    attributes[GEN_AI.requestMaxTokens] = request.maxOutputTokens;
  }
  return attributes;
}
