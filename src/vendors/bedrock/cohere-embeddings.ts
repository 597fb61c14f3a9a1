import type { EmbeddingInput } from '../../canonical/work-request.js';
import { countCodePoints } from '../../canonical/prompt-size.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { parseAnswerJson } from '../dialects/answer-json.js';
import { textsOf } from '../dialects/embeddings/embedding-items.js';
import { readFloats } from '../dialects/embeddings/read-embeddings-answer.js';
import { UpstreamError, unreadable, unsupported } from '../upstream-error.js';

/** Limits of Cohere's third generation of embedding models. */
const MAX_TEXTS = 96;
const MAX_CHARACTERS = 2_048;
/** Includes ARNs, because the name of an inference profile does not show its model. */
const COHERE_MODELS = /cohere\.embed|^arn:/;

export interface CohereBatch {
  body: Buffer;
  count: number;
}

/**
 * Encodes an input as calls, in order. Texts are always embedded as documents, because the caller's
 * dialect cannot mark queries.
 *
 * @throws UpstreamError `unsupported` for another maker's model and for tokens, `context_length` for a text
 *   that is too long
 */
export function encodeCohereBatches(input: EmbeddingInput, modelId: string): CohereBatch[] {
  if (!COHERE_MODELS.test(modelId)) {
    throw unsupported('model', "Only Cohere's embedding models are supported on this provider.");
  }
  const texts = textsOf(input);
  const tooLong = texts.findIndex(
    (text) => text.length > MAX_CHARACTERS && countCodePoints(text) > MAX_CHARACTERS,
  );
  if (tooLong !== -1) {
    throw new UpstreamError({
      failure: 'context_length',
      message: `This model embeds texts of at most ${MAX_CHARACTERS} characters; item ${tooLong} of \`input\` is longer.`,
      param: `input.${tooLong}`,
    });
  }
  const batches: CohereBatch[] = [];
  for (let start = 0; start < texts.length; start += MAX_TEXTS) {
    const part = texts.slice(start, start + MAX_TEXTS);
    const body = Buffer.from(JSON.stringify({ texts: part, input_type: 'search_document' }));
    batches.push({ body, count: part.length });
  }
  return batches;
}

/**
 * Reads the vectors of one call, in the order of its texts.
 *
 * @throws UpstreamError `unreadable`
 */
export function readCohereVectors(bytes: Buffer, count: number): (readonly number[])[] {
  const body = parseAnswerJson(bytes.toString('utf8'), 'an answer');
  const given = isJsonObject(body) ? body.embeddings : undefined;
  // When vector types were requested, each type has its own list.
  const vectors: unknown = isJsonObject(given) ? given.float : given;
  if (!Array.isArray(vectors) || vectors.length !== count) {
    throw unreadable(`not the ${count} vectors requested`);
  }
  return vectors.map(readFloats);
}
