import type { EmbeddingVectors } from '../../../canonical/work-request.js';
import type { Usage } from '../../../canonical/usage.js';
import { isJsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';
import { readChatUsage } from '../chat/read-chat-usage.js';
import { readVector } from './read-vector.js';

export interface EmbeddingsAnswer {
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
