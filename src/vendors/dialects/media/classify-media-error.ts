import type { IncomingHttpHeaders } from 'node:http';
import { UpstreamError } from '../../upstream-error.js';
import { classifyChatError } from '../chat/classify-chat-error.js';

/**
 * Whose fault a failed answer in OpenAI's error shape is, of a call for media. The vendor's filter
 * refuses a prompt with status 400, its message is the caller's to see.
 */
export function classifyMediaError(
  status: number,
  headers: IncomingHttpHeaders,
  body: unknown,
): UpstreamError {
  const error = classifyChatError(status, headers, body);
  // A filter's offence is reported there as the conversation's, of which there is none here.
  if (error.param !== 'messages') return error;
  const { failure, message, retryAfterMs, accepted } = error;
  return new UpstreamError({ failure, message, status, retryAfterMs, accepted, param: 'prompt' });
}
