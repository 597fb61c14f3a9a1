import { requestHeaders, toApiError, unreachable } from '../../api/client';
import type { components } from '../../api/schema';

export type BookCheck = components['schemas']['BookCheck'];

/** An event of the check's response stream. */
export type BooksEvent =
  | { object: 'books.begin'; checked_at: string; invariants: { id: string; invariant: string }[] }
  | ({ object: 'books.check' } & BookCheck)
  | { object: 'books.end'; status: BookCheck['status']; duration_ms: number };

const OBJECTS = ['books.begin', 'books.check', 'books.end'];

/**
 * Runs the check and yields its events.
 *
 * @param signal cancels the check
 * @throws ApiError for error responses and network errors
 */
export async function* watchBooks(signal: AbortSignal): AsyncGenerator<BooksEvent> {
  const response = await fetch('/v1/admin/books/progress.jsonl', {
    headers: requestHeaders('GET'),
    signal,
  }).catch((reason: unknown) => {
    if (signal.aborted) throw reason;
    throw unreachable();
  });
  if (!response.ok || !response.body) {
    throw toApiError(await response.json().catch(() => undefined), response);
  }
  for await (const line of linesOf(response.body)) {
    const event: unknown = JSON.parse(line);
    if (isEvent(event)) yield event;
  }
}

function isEvent(value: unknown): value is BooksEvent {
  return (
    typeof value === 'object' &&
    value !== null &&
    'object' in value &&
    OBJECTS.includes(String(value.object))
  );
}

/** Yields the lines of a stream; text after the last line break is dropped. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let buffer = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (buffer + decoder.decode(value, { stream: true })).split('\n');
      buffer = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
