import type { EmbeddingVectors } from '../../../canonical/work-request.js';
import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';
import { readChatUsage } from '../chat/read-chat-usage.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

interface EmbeddingsAnswer {
  vectors: EmbeddingVectors;
  usage: Usage | undefined;
}

/**
 * Reads an answer of the embeddings dialect: one vector for each item, whatever their order.
 *
 * @param count how many items were sent
 * @throws UpstreamError `unreadable` for anything else
 */
export function readEmbeddingsAnswer(bytes: Buffer, count: number): EmbeddingsAnswer {
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    throw new UpstreamError({ failure: 'unreadable', message: 'no JSON' }, { cause: error });
  }
  if (!isJsonObject(body) || !Array.isArray(body.data) || body.data.length !== count) {
    throw new UpstreamError({
      failure: 'unreadable',
      message: `not the ${count} vectors asked for`,
    });
  }
  const vectors = new Array<readonly number[] | string | undefined>(count).fill(undefined);
  for (const [position, item] of (body.data as unknown[]).entries()) {
    const { index = position, embedding } = isJsonObject(item) ? item : {};
    if (typeof index !== 'number' || index >= count || vectors[index] !== undefined) {
      throw new UpstreamError({ failure: 'unreadable', message: 'vectors without their order' });
    }
    vectors[index] = readVector(embedding);
  }
  if (!isComplete(vectors)) {
    throw new UpstreamError({ failure: 'unreadable', message: 'vectors without their order' });
  }
  return { vectors, usage: readChatUsage(body.usage) };
}

function isComplete(
  vectors: (readonly number[] | string | undefined)[],
): vectors is (readonly number[] | string)[] {
  return !vectors.includes(undefined);
}

/**
 * A vector as a vendor spells it: numbers, or base64 of 32-bit floats.
 *
 * @throws UpstreamError `unreadable` for anything else
 */
function readVector(value: unknown): readonly number[] | string {
  return typeof value === 'string' ? readBase64(value) : readFloats(value);
}

/** As `readVector`, of a vendor that only knows numbers. */
export function readFloats(value: unknown): readonly number[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(Number.isFinite))
    throw noVector();
  return value as number[];
}

function readBase64(value: string): string {
  const isFloats = BASE64.test(value) && Buffer.byteLength(value, 'base64') % 4 === 0;
  if (!isFloats) throw noVector();
  return value;
}

function noVector(): UpstreamError {
  return new UpstreamError({ failure: 'unreadable', message: 'a vector that is none' });
}
