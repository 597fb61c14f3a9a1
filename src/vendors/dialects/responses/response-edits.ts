import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import type { JsonObject } from '../../../platform/http/json-body.js';

/** The events before any output, all of which bring the response object, up to that. */
const HEAD =
  /^\{"type":"(response\.(?:created|queued|in_progress))","sequence_number":\d{1,12},"response":/;

/**
 * Remembers how the response object was edited with which a stream begins. It comes in two or three
 * events, alike to the byte, and repeats the request's instructions and tools, so it may be long.
 */
export class EditedBeginning {
  private received: string | undefined;
  private edited = '';

  /**
   * @param received an event's JSON
   * @param edited the same as it is sent, of which the members have the same order
   */
  remember(received: string, edited: string): void {
    const [head] = HEAD.exec(received) ?? [];
    const isAlike = head !== undefined && edited.startsWith(head);
    this.received = isAlike ? received.slice(head.length) : undefined;
    this.edited = isAlike ? edited.slice(head.length) : '';
  }

  /** An event that differs from the remembered one in type and number alone, as it is to be sent. */
  repeat(received: string): string | undefined {
    if (this.received === undefined) return undefined;
    const [head, type] = HEAD.exec(received) ?? [];
    if (head === undefined || received.slice(head.length) !== this.received) return undefined;
    return `event: ${type}\ndata: ${head}${this.edited}\n\n`;
  }
}

/** Members of a vendor's response object that callers get with values of the gateway's. */
export type ResponseEdits = Readonly<JsonObject>;

/** The answer is the gateway's to keep, and so are its id and what the caller attached to it. */
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
