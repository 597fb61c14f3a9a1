import { setTimeout as wait } from 'node:timers/promises';
import type { FakeAnswer } from './fake-openai.js';

/** The bytes of one write by the vendor. */
export type Piece = string | Buffer;

/** The vendor's action after its last piece. */
export type Ending = 'end' | 'destroy' | 'hang';

export const DONE = 'data: [DONE]\n\n';

export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** A stream of exactly these pieces, each in a separate write. */
export function streamOf(pieces: readonly Piece[], ending: Ending, gapMs?: number): FakeAnswer {
  return async (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    response.socket?.setNoDelay(true);
    for (const piece of pieces) {
      response.write(piece);
      if (gapMs !== undefined) await wait(gapMs);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    if (ending === 'end') response.end();
    if (ending === 'destroy') setTimeout(() => response.destroy(), 20);
  };
}

/** A 200 answer in one piece. */
export function contentOf(contentType: string, body: string): FakeAnswer {
  return (_call, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(body);
  };
}

export function chunk(rest: object): string {
  const head = { id: 'chatcmpl-x', object: 'chat.completion.chunk', created: 1, model: 'a-2024' };
  return `data: ${JSON.stringify({ ...head, ...rest })}\n\n`;
}

export function delta(content: object, finishReason: string | null = null, index = 0): string {
  return chunk({ choices: [{ index, delta: content, finish_reason: finishReason }] });
}

export function finish(): string {
  return delta({}, 'stop');
}

export function usageChunk(usage: object = USAGE): string {
  return chunk({ choices: [], usage });
}

/** Splits bytes into pieces of one size. */
export function slices(bytes: Buffer, size: number): Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

/** Cuts bytes within each multi-byte character. */
export function cutWithinCharacters(bytes: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (let index = 1; index < bytes.length; index++) {
    if ((bytes[index]! & 0xc0) !== 0x80) continue;
    pieces.push(bytes.subarray(start, index));
    start = index;
  }
  return [...pieces, bytes.subarray(start)];
}
