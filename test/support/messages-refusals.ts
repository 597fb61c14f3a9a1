import { expect } from '@jest/globals';
import { jsonBody } from './chat-requests.js';
import { parseMessages } from '../../src/features/messages/messages.parse.js';

export const user = (content: unknown): object => ({ role: 'user', content });
export const assistant = (content: unknown): object => ({ role: 'assistant', content });
export const TOOL = { name: 'f', input_schema: { type: 'object' } };

/** Returns the error for a complete body. */
export function refusalOf(body: unknown, headers = {}): unknown {
  try {
    parseMessages(jsonBody(body), headers);
    return undefined;
  } catch (error) {
    return error;
  }
}

export const refused = (param: string) =>
  expect.objectContaining({ status: 400, type: 'invalid_request_error', param });
