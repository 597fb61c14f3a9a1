import { ApiError, requestHeaders, toApiError } from '../../api/client';
import type { components } from '../../api/schema';

export type BookCheck = components['schemas']['BookCheck'];

/** A line of the check's answer. */
export type BooksNews =
  | { object: 'books.begin'; checked_at: string; invariants: { id: string; invariant: string }[] }
  | ({ object: 'books.check' } & BookCheck)
  | { object: 'books.end'; status: BookCheck['status']; duration_ms: number };

const OBJECTS = ['books.begin', 'books.check', 'books.end'];

/**
 * Checks the books, and tells what is found as it is found.
 *
 * @param signal cancels the check
 * @throws ApiError when the API refused, or could not be reached
 */
export async function* watchBooks(signal: AbortSignal): AsyncGenerator<BooksNews> {
  const response = await fetch('/v1/admin/books/progress.jsonl', {
    headers: requestHeaders('GET'),
    signal,
  }).catch((reason: unknown) => {
    if (signal.aborted) throw reason;
    throw new ApiError(0, 'The gateway can not be reached from this browser.', null, null, null);
  });
  if (!response.ok || !response.body) {
    throw toApiError(await response.json().catch(() => undefined), response);
  }
  for await (const line of linesOf(response.body)) {
    const news: unknown = JSON.parse(line);
    if (isNews(news)) yield news;
  }
}

function isNews(value: unknown): value is BooksNews {
  return (
    typeof value === 'object' &&
    value !== null &&
    'object' in value &&
    OBJECTS.includes(String(value.object))
  );
}

/** The lines of a text as they come; what follows the last line's end is left out. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
