import type { EmbeddingRequest } from '../../src/canonical/work-request.js';
import { parseEmbeddings } from '../../src/features/embeddings/embeddings.parse.js';
import { jsonBody } from './chat-requests.js';

/** An embeddings request; omitted fields do not matter to the test. */
export function embeddingRequest(overrides: Record<string, unknown> = {}): EmbeddingRequest {
  return parseEmbeddings(jsonBody({ model: 'a/vectors', input: 'Hi', ...overrides }));
}
