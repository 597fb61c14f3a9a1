import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { messagesBody } from '../../../test/support/messages-requests.js';
import type { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { MessagesService } from './messages.service.js';

describe(MessagesService.name, () => {
  /** Counts tokens with the given vendor results. */
  function count(counted: { tokens: number; provider: string } | undefined) {
    const answers = { countTokens: () => Promise.resolve(counted) } as unknown as AnswersService;
    const body = Buffer.from(JSON.stringify(messagesBody()));
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const call = { headers, body: Object.assign(Readable.from([body]), { headers }) };
    return new MessagesService(answers).countTokens(call as unknown as Call);
  }

  it("returns the vendor's count and its provider", async () => {
    expect(await count({ tokens: 42, provider: 'a' })).toEqual({
      body: { input_tokens: 42 },
      provider: 'a',
    });
  });

  it('returns an estimate when no vendor counts', async () => {
    expect(await count(undefined)).toEqual({ body: { input_tokens: 1 }, provider: undefined });
  });
});
