import { describe, expect, it } from '@jest/globals';
import { CHAT } from '../support/paths.js';
import { setUpStreamedChat } from '../support/streamed-chat.js';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { IDLE_MS } from '../support/boot-with-vendor.js';
import { errorAnswer, hangAnswer, politeAnswer } from '../support/fake-openai.js';
import { type LoggedRequest } from '../support/logged-request.js';
import { until } from '../support/until.js';
import { within } from '../support/within.js';
import { delta, DONE, finish, usageChunk } from '../support/vendor-stream.js';

/** 10 tokens at 1 credit and 5 at 2. */
const COST = 20;

describe('a caller who does not wait for the end', () => {
  const chat = setUpStreamedChat();
  const { bodyOf, rowOf } = chat;

  describe('a caller who reads slowly', () => {
    it('slows the vendor down, and gets everything in the end', async () => {
      const content = 'z'.repeat(64_000);
      const total = 1_000;
      let sent = 0;
      chat.fake.answer = async (_call, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (; sent < total; sent++) {
          if (!response.write(delta({ content }))) await once(response, 'drain');
        }
        response.end(finish() + usageChunk() + DONE);
      };
      const response = await openStream();
      try {
        response.pause();
        await awaitStandstill(() => sent);
        expect(sent).toBeLessThan(total / 2);
        // As long as the vendor waits for us, its silence is not its own.
        await wait(IDLE_MS * 2);

        let received = 0;
        let tail = '';
        for await (const chunk of response) {
          received += (chunk as Buffer).length;
          tail = (tail + (chunk as Buffer).toString()).slice(-200);
        }
        expect(received).toBeGreaterThan(total * content.length);
        expect(tail).toMatch(/"finish_reason":"stop".*data: \[DONE\]\n\n$/s);
      } finally {
        response.destroy();
      }
      const row = await rowOf(response.headers['x-request-id'] as string);
      expect(row).toMatchObject({ outcome: 'completed', cost: COST });
    });

    /** Waits until a count has begun and then not grown for a while. */
    async function awaitStandstill(count: () => number): Promise<void> {
      for (let last = 0, still = 0; still < 6;) {
        await wait(250);
        still = count() > 0 && count() === last ? still + 1 : 0;
        last = count();
      }
    }

    async function openStream(): Promise<IncomingMessage> {
      const request = httpRequest(chat.gateway.url + CHAT, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${chat.gateway.apiKey}`,
          'content-type': 'application/json',
        },
      });
      request.end(JSON.stringify(bodyOf({ stream: true })));
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return response;
    }
  });

  describe('a caller who leaves', () => {
    /** Calls, leaves at the moment that is waited for, and answers the log row. */
    async function leave(fields: object, moment: () => Promise<void>): Promise<LoggedRequest> {
      const known = await idsInLog();
      const abort = new AbortController();
      const answer = chat.gateway
        .fetch(CHAT, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(bodyOf(fields)),
          signal: abort.signal,
        })
        .then(async (response) => {
          for await (const chunk of response.body!) seen += Buffer.from(chunk).toString();
        });
      answer.catch(() => undefined);
      await moment();
      abort.abort();
      await expect(answer).rejects.toThrow();
      let id: string | undefined;
      await until(async () => {
        id = (await idsInLog()).find((one) => !known.includes(one));
        return id !== undefined;
      });
      return rowOf(id);
    }
    let seen = '';
    const called = async (): Promise<void> => {
      await until(() => chat.fake.calls.length > 0);
      await wait(30);
    };
    const idsInLog = async (): Promise<string[]> => {
      const { rows } = await chat.gateway.database.query<{ request_id: string }>(
        'SELECT request_id FROM request_logs',
      );
      return rows.map((row) => row.request_id);
    };

    it.each([true, false])(
      'before the first byte (stream: %s) ends the vendor’s call at once and pays the prompt',
      async (isStream) => {
        chat.fake.answer = hangAnswer;
        const row = await leave({ stream: isStream }, called);
        await within(10_000, chat.fake.calls[0]!.hungUp);
        expect(row).toMatchObject({
          outcome: 'cancelled',
          status: 'success',
          usage_source: 'estimated',
          prompt_tokens: 100,
          completion_tokens: 0,
          cost: 100,
        });
        expect(chat.fake.calls).toHaveLength(1);
      },
    );

    it('in the middle of a whole answer pays the prompt', async () => {
      chat.fake.answer = (_call, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"choices":[{"index":0,"message":{"content":"Half');
      };
      const row = await leave({}, called);
      await within(10_000, chat.fake.calls[0]!.hungUp);
      expect(row).toMatchObject({ outcome: 'cancelled', cost: 100, completion_tokens: 0 });
    });

    it('in the middle of a stream pays the prompt and what was generated', async () => {
      seen = '';
      chat.fake.answer = politeAnswer({ text: 'word '.repeat(500), chunkDelayMs: 10 });
      const row = await leave({ stream: true }, async () => {
        await until(() => seen.split('word').length >= 20);
      });
      await within(10_000, chat.fake.calls[0]!.hungUp);
      const words = seen.split('word').length - 1;
      expect(row).toMatchObject({
        outcome: 'cancelled',
        usage_source: 'estimated',
        prompt_tokens: 100,
      });
      expect(row.completion_tokens).toBeGreaterThanOrEqual(Math.ceil((words * 5) / 4));
      expect(row.completion_tokens).toBeLessThan(300);
      expect(row.cost).toBe(100 + row.completion_tokens * 2);
    });

    it('while a vendor’s Retry-After is waited out pays nothing', async () => {
      chat.fake.answer = errorAnswer(429, { message: 'later' }, { 'retry-after': '9' });
      const startedMs = performance.now();
      const row = await leave({}, called);
      expect(performance.now() - startedMs).toBeLessThan(8_000);
      expect(row).toMatchObject({ outcome: 'cancelled', cost: 0, usage_source: 'none' });
      await wait(100);
      expect(chat.fake.calls).toHaveLength(1);
    });

    it('ends the vendor’s calls also when many leave at once', async () => {
      chat.fake.answer = hangAnswer;
      const abort = new AbortController();
      const answers = Array.from({ length: 20 }, () =>
        chat.gateway.fetch(CHAT, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(bodyOf({ stream: true })),
          signal: abort.signal,
        }),
      );
      const left = Promise.allSettled(answers);
      await until(() => chat.fake.calls.length >= answers.length);
      abort.abort();
      expect((await left).every(({ status }) => status === 'rejected')).toBe(true);
      await Promise.all(chat.fake.calls.map((call) => within(10_000, call.hungUp)));
      expect(chat.fake.calls).toHaveLength(answers.length);
    });
  });
});
