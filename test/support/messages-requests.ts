import type { IncomingHttpHeaders } from 'node:http';
import type { CanonicalRequest } from '../../src/canonical/canonical-request.js';
import { parseMessages } from '../../src/features/messages/messages.parse.js';
import { jsonBody } from './chat-requests.js';

/** A body of the messages dialect; omitted fields do not matter to the test. */
export function messagesBody(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  const messages = [{ role: 'user', content: 'Hi' }];
  return { model: 'openai/gpt-4o', max_tokens: 100, messages, ...overrides };
}

/** A message request; omitted fields do not matter to the test. */
export function messagesRequest(
  overrides: Record<string, unknown> = {},
  headers: IncomingHttpHeaders = {},
): CanonicalRequest {
  return parseMessages(jsonBody(messagesBody(overrides)), headers);
}
