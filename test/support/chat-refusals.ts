import { expect } from '@jest/globals';
import { jsonBody } from './chat-requests.js';
import { parseChat } from '../../src/features/chat/chat.parse.js';

export const messages = [{ role: 'user', content: 'Hi' }];

/** Returns the error for a complete body. */
export function refusalOf(body: unknown): unknown {
  try {
    parseChat(jsonBody(body));
    return undefined;
  } catch (error) {
    return error;
  }
}

export const refused = (param: string, message?: string | RegExp) =>
  expect.objectContaining({
    status: 400,
    type: 'invalid_request_error',
    param,
    ...(message !== undefined && { message: expect.stringMatching(message) as unknown }),
  });
