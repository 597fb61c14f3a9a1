import { isRelayed } from '../../../canonical/canonical-request.js';
import type { UpstreamResponse } from '../../transport/upstream-response.js';
import type { UpstreamCall } from '../../upstream.js';
import { readEventStream, isUnstreamed, readUnstreamed } from '../read-event-stream.js';
import type { AnswerEvents } from '../vendor-answer.js';
import { classifyInlineMessagesError } from './classify-messages-error.js';
import { decodeMessagesAnswer, relayMessagesAnswer } from './read-messages-answer.js';
import type { MessagesDecoderOptions } from './decode-messages-event.js';
import { MessagesStreamDecoder } from './messages-stream-decoder.js';
import { MessagesStreamRelay } from './messages-stream-relay.js';
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Reads the events of an answer with status 200: the vendor's own bytes for a caller of the same dialect,
 * canonical events for any other.
 *
 * @param describe maps a stream's failure to the error to throw
 * @throws UpstreamError `unreadable`, `cut`, or as the vendor reports in the answer
 */
export async function readMessagesResponse(
  response: UpstreamResponse,
  { alias, request }: Pick<UpstreamCall, 'alias' | 'request'>,
  options: MessagesDecoderOptions,
  describe?: (failure: unknown) => unknown,
): Promise<AnswerEvents> {
  const relays = isRelayed(request, 'messages');
  if (!request.stream) {
    const bytes = await response.readAll(MAX_ANSWER_BYTES);
    return relays ? relayMessagesAnswer(bytes, alias) : decodeMessagesAnswer(bytes, options);
  }
  if (isUnstreamed(response)) throw await readUnstreamed(response, classifyInlineMessagesError);
  const reader = relays ? new MessagesStreamRelay(alias) : new MessagesStreamDecoder(options);
  return readEventStream(response, reader, describe);
}
