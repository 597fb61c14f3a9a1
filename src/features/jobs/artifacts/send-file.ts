import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { drained } from '../../../platform/http/drained.js';
import { CallerGoneError } from '../../../platform/http/read-body.js';

export interface FileAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Runs when there is something to send, before it is; when it throws, nothing is sent. */
  onFirstBytes(): Promise<void>;
}

/**
 * Sends a file no faster than the caller reads. A failure before the first byte is thrown; one
 * after it cuts the connection. The file is closed however it ends, also when the caller leaves.
 */
export async function sendFile(
  response: ServerResponse,
  stream: Readable,
  answer: FileAnswer,
): Promise<void> {
  const close = (): void => void stream.destroy();
  response.once('close', close);
  // One that is destroyed between two reads has nobody else to tell.
  stream.on('error', () => undefined);
  try {
    if (response.destroyed) return;
    const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    let next = await chunks.next();
    if (response.destroyed) return;
    await answer.onFirstBytes();
    response.writeHead(answer.status, answer.headers);
    while (!next.done) {
      if (!response.write(next.value)) await drained(response);
      next = await chunks.next();
    }
    response.end();
  } catch (error) {
    if (error instanceof CallerGoneError || response.destroyed) return;
    throw error;
  } finally {
    response.off('close', close);
    stream.destroy();
  }
}
