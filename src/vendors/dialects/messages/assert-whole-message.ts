import type { JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamError } from '../../upstream-error.js';

/**
 * What makes a message a complete answer.
 *
 * @throws UpstreamError `unreadable` for an object without content, `cut` for one without a reason
 *   why it ended
 */
export function assertWholeMessage(message: JsonObject): {
  stopReason: string;
  content: unknown[];
} {
  const { content, stop_reason: stopReason } = message;
  if (!Array.isArray(content)) {
    throw new UpstreamError({ failure: 'unreadable', status: 200, message: 'an empty answer' });
  }
  if (typeof stopReason !== 'string' || stopReason === '') {
    throw new UpstreamError({
      failure: 'cut',
      status: 200,
      message: 'an answer without a stop reason',
    });
  }
  return { stopReason, content };
}
