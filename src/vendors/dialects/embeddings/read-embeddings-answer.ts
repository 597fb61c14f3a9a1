import type { EmbeddingVectors } from '../../../canonical/work-request.js';
import type { Usage } from '../../../canonical/usage.js';
import { type UpstreamError, unreadable } from '../../upstream-error.js';
import { listOf, objectOf, parseAnswerJson } from '../answer-json.js';
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
  const { data, usage } = objectOf(parseAnswerJson(bytes.toString('utf8'), 'an answer'));
  const items = listOf(data);
  if (items.length !== count) throw unreadable(`not the ${count} vectors asked for`);
  const vectors = new Array<readonly number[] | string | undefined>(count).fill(undefined);
  for (const [position, item] of items.entries()) {
    const { index = position, embedding } = objectOf(item);
    if (typeof index !== 'number' || index >= count || vectors[index] !== undefined) {
      throw unreadable('vectors without their order');
    }
    vectors[index] = readVector(embedding);
  }
  if (!isComplete(vectors)) {
    throw unreadable('vectors without their order');
  }
  return { vectors, usage: readChatUsage(usage) };
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
  const numbers = listOf(value);
  if (numbers.length === 0 || !numbers.every(isFiniteNumber)) throw noVector();
  return numbers;
}

function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function readBase64(value: string): string {
  const isFloats = BASE64.test(value) && Buffer.byteLength(value, 'base64') % 4 === 0;
  if (!isFloats) throw noVector();
  return value;
}

function noVector(): UpstreamError {
  return unreadable('a vector that is none');
}
