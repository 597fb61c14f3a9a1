import type { CanonicalRequest } from '../../src/canonical/canonical-request.js';
import { parseChat } from '../../src/features/chat/chat.parse.js';
import { parseJsonBody, type JsonBody } from '../../src/platform/http/json-body.js';

/** A JSON body as received; a string is the raw text. */
export function jsonBody(value: unknown): JsonBody {
  return parseJsonBody(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)));
}

/** A chat request; omitted fields do not matter to the test. */
export function chatRequest(overrides: Record<string, unknown> = {}): CanonicalRequest {
  const messages = [{ role: 'user', content: 'Hi' }];
  return parseChat(jsonBody({ model: 'openai/gpt-4o', messages, ...overrides }));
}
