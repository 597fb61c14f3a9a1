import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

/** Matches the events before any output up to their response object. */
const HEAD =
  /^\{"type":"(response\.(?:created|queued|in_progress))","sequence_number":\d{1,12},"response":/;

/**
 * Remembers how the response object at the start of a stream was edited. It arrives in two or three events,
 * identical to the byte, and may be long, because it repeats the request's instructions and tools.
 */
export class EditedBeginning {
  private received: string | undefined;
  private edited = '';

  /**
   * @param received an event's JSON
   * @param edited the event as sent, with its members in the same order
   */
  remember(received: string, edited: string): void {
    const [head] = HEAD.exec(received) ?? [];
    const isAlike = head !== undefined && edited.startsWith(head);
    this.received = isAlike ? received.slice(head.length) : undefined;
    this.edited = isAlike ? edited.slice(head.length) : '';
  }

  /** Returns the edited form of an event that differs from the remembered one only in type and number. */
  repeat(received: string): string | undefined {
    if (this.received === undefined) return undefined;
    const [head, type] = HEAD.exec(received) ?? [];
    if (head === undefined || received.slice(head.length) !== this.received) return undefined;
    return `event: ${type}\ndata: ${head}${this.edited}\n\n`;
  }
}

/** Members of a vendor's response object that the gateway replaces for callers. */
export type ResponseEdits = Readonly<JsonObject>;

/** Returns the edits: the gateway stores the answer, so its id and metadata are the gateway's own. */
export function responseEditsOf(request: CanonicalRequest, alias: string): ResponseEdits {
  const { store, metadata, previous_response_id: previousId, background } = request.body.value;
  return {
    ...(request.answerId !== undefined && { id: request.answerId }),
    model: alias,
    store: store !== false,
    metadata: metadata ?? {},
    previous_response_id: previousId ?? null,
    ...(background === true && { background }),
  };
}
