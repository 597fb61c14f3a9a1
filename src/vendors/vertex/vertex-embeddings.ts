import type { EmbeddingRequest } from '../../canonical/work-request.js';
import { PromptMeter } from '../../canonical/prompt-size.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { textsOf } from '../dialects/embeddings/embedding-items.js';
import { readFloats } from '../dialects/embeddings/read-embeddings-answer.js';
import { unreadable } from '../upstream-error.js';
import { objectOf, isCount, parseAnswerJson } from '../dialects/answer-json.js';

/** Limits of one call; Gemini's embedding models accept a single text. */
const MAX_TEXTS = 250;
const MAX_TOKENS = 20_000;
const ONE_TEXT_ONLY = /^gemini-/;

export interface VertexBatch {
  body: Buffer;
  count: number;
}

export interface VertexPredictions {
  vectors: (readonly number[])[];
  /** Undefined when the vendor did not count all of them. */
  tokens: number | undefined;
}

/**
 * Encodes an input as calls, in order. A text that is too long is an error rather than truncated.
 *
 * @throws UpstreamError `unsupported` for tokens
 */
export function encodeVertexBatches(
  { input, dimensions }: EmbeddingRequest,
  upstreamModel: string,
): VertexBatch[] {
  const maxTexts = ONE_TEXT_ONLY.test(upstreamModel) ? 1 : MAX_TEXTS;
  const parameters = {
    autoTruncate: false,
    ...(dimensions !== undefined && { outputDimensionality: dimensions }),
  };
  const parts: string[][] = [];
  let tokens = 0;
  for (const text of textsOf(input)) {
    const meter = new PromptMeter();
    meter.addText(text);
    const size = meter.size().tokens;
    const part = parts.at(-1);
    if (part && part.length < maxTexts && tokens + size <= MAX_TOKENS) {
      part.push(text);
      tokens += size;
    } else {
      parts.push([text]);
      tokens = size;
    }
  }
  return parts.map((texts) => {
    const instances = texts.map((content) => ({ content }));
    return {
      body: Buffer.from(JSON.stringify({ instances, parameters })),
      count: texts.length,
    };
  });
}

/**
 * Reads the vectors of one call, in the order of its texts.
 *
 * @throws UpstreamError `unreadable`
 */
export function readVertexPredictions(bytes: Buffer, count: number): VertexPredictions {
  const body = parseAnswerJson(bytes.toString('utf8'), 'an answer');
  const predictions: unknown = isJsonObject(body) ? body.predictions : undefined;
  if (!Array.isArray(predictions) || predictions.length !== count) {
    throw unreadable(`not the ${count} vectors requested`);
  }
  const vectors: (readonly number[])[] = [];
  let tokens: number | undefined = 0;
  for (const prediction of predictions) {
    const { values, statistics } = objectOf(objectOf(prediction).embeddings);
    vectors.push(readFloats(values));
    const counted = objectOf(statistics).token_count;
    tokens = tokens !== undefined && isCount(counted) ? tokens + counted : undefined;
  }
  return { vectors, tokens };
}
