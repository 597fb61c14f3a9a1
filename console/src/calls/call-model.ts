import { ApiError, toApiError } from '../api/client';
import type { ModelRequest } from './build-request';
import type { CallFacts } from './conversation';
import { answerReader, type Answer } from './read-answer';
import { SseReader } from './sse';
import { parseJson } from './json';

export interface CallOutcome {
  answer: Answer;
  call: Omit<CallFacts, 'model'>;
  /** The error, if any; `answer` holds what arrived before it. */
  error: Error | null;
}

/**
 * Calls a model with an API key; sessions cannot call models.
 *
 * @param signal aborts the call without an error
 * @param onProgress receives the answer so far after each chunk
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
      // A session cookie next to the key would identify two callers.
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
      const take = (chunks: string[]): void => {
        for (const chunk of chunks) {
          const streamError = reader.event(parseJson(chunk));
          if (streamError)
            throw new ApiError(200, streamError.message, streamError.param, requestId, null);
        }
      };
      for await (const bytes of chunksOf(response.body)) {
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

/** Iterates over a stream; some browsers lack async iteration. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // Without this the gateway keeps generating and billing.
    reader.cancel().catch(() => {});
  }
}

function asApiError(reason: unknown, requestId: string | null): Error {
  if (reason instanceof ApiError) return reason;
  const message =
    requestId === null
      ? 'The gateway is unreachable. Check your connection and try again.'
      : 'The connection was interrupted before the answer was complete. Send it again.';
  return new ApiError(0, message, null, requestId, null);
}
