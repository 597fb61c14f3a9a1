import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CollectedWork } from '../../canonical/collect.js';
import type { EmbeddingRequest, EmbeddingVectors } from '../../canonical/work-request.js';

const BYTES_PER_FLOAT = 4;

/** Yields between vectors, since encoding two thousand long ones takes a second. */
const VECTORS_PER_TURN = 64;

/** Returns the JSON body: vectors in item order, in the requested encoding. */
export async function renderEmbeddings(
  { route, outputs: [vectors], settled }: CollectedWork<EmbeddingVectors>,
  encoding: EmbeddingRequest['encoding'],
): Promise<Buffer> {
  const pieces: Buffer[] = [Buffer.from('{"object":"list","data":[')];
  for (const [index, vector] of vectors.entries()) {
    if (index % VECTORS_PER_TURN === VECTORS_PER_TURN - 1) await nextTurn();
    const item = { object: 'embedding', index, embedding: inEncoding(vector, encoding) };
    pieces.push(Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(item)}`));
  }
  const tokens = settled.usage.inputTokens;
  const usage = { prompt_tokens: tokens, total_tokens: tokens };
  const end = JSON.stringify({ model: route.model, usage }).slice(1);
  pieces.push(Buffer.from(`],${end}`));
  return Buffer.concat(pieces);
}

function inEncoding(
  vector: readonly number[] | string,
  encoding: EmbeddingRequest['encoding'],
): readonly number[] | string {
  if (encoding === 'base64') return typeof vector === 'string' ? vector : encodeFloats(vector);
  return typeof vector === 'string' ? decodeFloats(vector) : vector;
}

/** Encodes numbers as base64 of little-endian 32-bit floats. */
export function encodeFloats(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * BYTES_PER_FLOAT);
  for (let index = 0; index < vector.length; index++) {
    bytes.writeFloatLE(vector[index]!, index * BYTES_PER_FLOAT);
  }
  return bytes.toString('base64');
}

/** Decodes base64 of little-endian 32-bit floats. */
export function decodeFloats(base64: string): number[] {
  const bytes = Buffer.from(base64, 'base64');
  const vector: number[] = [];
  for (let offset = 0; offset < bytes.length; offset += BYTES_PER_FLOAT) {
    vector.push(bytes.readFloatLE(offset));
  }
  return vector;
}
