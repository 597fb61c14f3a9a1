import { ApiError, toApiError } from '../api/client';
import type { ModelRequest } from './build-request';
import type { CallFacts } from './conversation';
import { answerReader, type Answer } from './read-answer';
import { SseReader } from './sse';
import { parseJson } from './json';

export interface CallOutcome {
  answer: Answer;
  call: Omit<CallFacts, 'model'>;
  /** What went wrong, if it did; what had come before stands in `answer`. */
  error: Error | null;
}

/**
 * Calls a model with a key, as every other client does: a session calls none.
 *
 * @param signal stops it, which is no error
 * @param onProgress is told what there is so far, with each piece that comes in
 */
export async function callModel(
  { surface, path, body }: ModelRequest,
  key: string,
  signal: AbortSignal,
  onProgress: (answer: Answer, firstTokenMs: number | null) => void = () => {},
): Promise<CallOutcome> {
  const startMs = performance.now();
  const reader = answerReader(surface);
  let requestId: string | null = null;
  let firstTokenMs: number | null = null;
  let error: Error | null = null;
  const progress = (): void => {
    const { text, reasoning, toolCalls } = reader.answer;
    if (text !== '' || reasoning !== '' || toolCalls.length > 0) {
      firstTokenMs ??= performance.now() - startMs;
    }
    onProgress({ ...reader.answer, toolCalls: [...toolCalls] }, firstTokenMs);
  };
  try {
    const response = await fetch(path, {
      method: 'POST',
      // With the session's cookie as well it would be two callers at once.
      credentials: 'omit',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    requestId = response.headers.get('x-request-id');
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (!response.ok) throw toApiError(parseJson(await response.text()), response);
    if (isStream && response.body) {
      const events = new SseReader();
      const take = (pieces: string[]): void => {
        for (const piece of pieces) {
          const fault = reader.event(parseJson(piece));
          if (fault) throw new ApiError(200, fault.message, fault.param, requestId, null);
        }
      };
      for await (const bytes of piecesOf(response.body)) {
        take(events.push(bytes));
        progress();
      }
      take(events.end());
    } else {
      reader.whole(parseJson(await response.text()));
    }
    progress();
  } catch (reason) {
    if (!signal.aborted) error = asApiError(reason, requestId);
  }
  const tookMs = performance.now() - startMs;
  return { answer: reader.answer, call: { requestId, firstTokenMs, tookMs }, error };
}

/** Not every browser lets one iterate over a stream. */
async function* piecesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Else the gateway would go on, and bill what nobody reads.
    reader.cancel().catch(() => {});
  }
}

function asApiError(reason: unknown, requestId: string | null): Error {
  if (reason instanceof ApiError) return reason;
  const message =
    requestId === null
      ? 'The gateway can not be reached from this browser.'
      : 'The connection to the gateway broke off in the middle of the answer.';
  return new ApiError(0, message, null, requestId, null);
}
