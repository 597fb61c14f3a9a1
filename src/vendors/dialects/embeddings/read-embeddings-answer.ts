import type { EmbeddingVectors } from '../../../canonical/work-request.js';
import type { Usage } from '../../../canonical/usage.js';
import { type UpstreamError, unreadable } from '../../upstream-error.js';
import { listOf, objectOf, parseAnswerJson } from '../answer-json.js';
import { readChatUsage } from '../chat/read-chat-usage.js';

/** 2,048 vectors of 3,072 numbers in decimal. */
const MAX_ANSWER_BYTES = 192 * 1024 * 1024;
/** One vector: 8,192 numbers in decimal, with separators. */
const MAX_VECTOR_BYTES = 256 * 1024;

/** Largest 32-bit float, because callers may request that encoding. */
const MAX_FLOAT = 3.4028234663852886e38;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

interface EmbeddingsAnswer {
  vectors: EmbeddingVectors;
  usage: Usage | undefined;
}

/** Returns the maximum size in bytes of an answer with `count` vectors. */
export function maxBytesOfVectors(count: number): number {
  return Math.min(MAX_ANSWER_BYTES, (count + 1) * MAX_VECTOR_BYTES);
}

/**
 * Parses an answer of the embeddings dialect: one vector per item, in any order.
 *
 * @param count the number of items sent
 * @throws UpstreamError `unreadable` for anything else
 */
export function readEmbeddingsAnswer(bytes: Buffer, count: number): EmbeddingsAnswer {
  const { data, usage } = objectOf(parseAnswerJson(bytes.toString('utf8'), 'an answer'));
  const items = listOf(data);
  if (items.length !== count) throw unreadable(`not the ${count} vectors requested`);
  const vectors = new Array<readonly number[] | string | undefined>(count).fill(undefined);
  for (const [position, item] of items.entries()) {
    const { index = position, embedding } = objectOf(item);
    if (typeof index !== 'number' || index >= count || vectors[index] !== undefined) {
      throw unreadable('vectors without a valid order');
    }
    vectors[index] = readVector(embedding);
  }
  if (!isComplete(vectors)) {
    throw unreadable('vectors without a valid order');
  }
  return { vectors, usage: readChatUsage(usage) };
}

function isComplete(
  vectors: (readonly number[] | string | undefined)[],
): vectors is (readonly number[] | string)[] {
  return !vectors.includes(undefined);
}

/**
 * Parses a vector: numbers, or base64 of 32-bit floats.
 *
 * @throws UpstreamError `unreadable` for anything else
 */
function readVector(value: unknown): readonly number[] | string {
  return typeof value === 'string' ? readBase64(value) : readFloats(value);
}

/** Like `readVector`, for a vendor that sends only numbers. */
export function readFloats(value: unknown): readonly number[] {
  const numbers = listOf(value);
  if (numbers.length === 0 || !numbers.every(isFloat)) throw noVector();
  return numbers;
}

function isFloat(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_FLOAT;
}

function readBase64(value: string): string {
  const bytes = BASE64.test(value) ? Buffer.from(value, 'base64') : Buffer.alloc(0);
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw noVector();
  for (let at = 0; at < bytes.length; at += 4)
    if (!isFloat(bytes.readFloatLE(at))) throw noVector();
  return value;
}

function noVector(): UpstreamError {
  return unreadable('an invalid vector');
}
