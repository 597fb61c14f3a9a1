import { describe, expect, it } from '@jest/globals';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { findLedgerFaults } from '../support/ledger-invariants.js';
import { CHAT, MESSAGES, RESPONSES } from '../support/paths.js';
import { setUpStreamedChat } from '../support/streamed-chat.js';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { IDLE_MS } from '../support/boot-with-vendor.js';
import { errorAnswer, hangAnswer, politeAnswer } from '../support/fake-openai.js';
import { type LoggedRequest } from '../support/logged-request.js';
import { nextGrace } from '../support/next-grace.js';
import { until } from '../support/until.js';
import { within } from '../support/within.js';
import { delta, DONE, finish, usageChunk } from '../support/vendor-stream.js';

/** 10 tokens at 1 credit and 5 at 2. */
const COST = 20;
/** Long enough to distinguish output of the grace period from earlier output. */
const GRACE_MS = 500;

describe('a caller that does not wait for the end', () => {
  const chat = setUpStreamedChat();
  const { bodyOf, rowOf } = chat;

  describe('a slow reader', () => {
    it('slows down the vendor, and gets everything in the end', async () => {
      const content = 'z'.repeat(64_000);
      let total = 1_000;
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
        // While the vendor waits for the gateway, its silence is not a fault.
        await awaitStandstill(() => sent, IDLE_MS * 2);
        expect(sent).toBeLessThan(total / 2);
        total = sent + 20;

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

    /** Waits until a count has started and then not grown for a time. */
    async function awaitStandstill(count: () => number, longMs: number): Promise<void> {
      for (let last = 0, stillMs = 0; stillMs < longMs;) {
        await wait(100);
        stillMs = count() > 0 && count() === last ? stillMs + 100 : 0;
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

  describe('a caller that disconnects', () => {
    /** Sends a request, disconnects at a given point, and returns the log row. */
    async function disconnect(
      fields: object,
      reached: () => Promise<void>,
      path = CHAT,
    ): Promise<LoggedRequest> {
      const known = await idsInLog();
      const abort = new AbortController();
      const answer = chat.gateway
        .fetch(path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(path === CHAT ? bodyOf(fields) : fields),
          signal: abort.signal,
        })
        .then(async (response) => {
          for await (const chunk of response.body!) seen += Buffer.from(chunk).toString();
        });
      answer.catch(() => undefined);
      await reached();
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

    const saw = (text: string) => () => until(() => seen.includes(text));

    it.each([true, false])(
      'before the first byte (stream: %s) pays for the prompt and the time, and ends the vendor’s call',
      async (isStream) => {
        chat.fake.answer = hangAnswer;
        void nextGrace(chat.gateway, GRACE_MS);
        const row = await disconnect({ stream: isStream, max_tokens: 5_000 }, called);
        await within(30_000, chat.fake.calls[0]!.hungUp);
        expect(row).toMatchObject({
          outcome: 'cancelled',
          status: 'success',
          usage_source: 'estimated',
        });
        expect(row.prompt_tokens).toBeGreaterThanOrEqual(100);
        // The route's speed is unknown: 100 tokens a second, at least for the grace period.
        expect(row.completion_tokens).toBeGreaterThanOrEqual((GRACE_MS / 10) * 0.9);
        expect(row.cost).toBe(row.prompt_tokens + row.completion_tokens * 2);
        expect(chat.fake.calls).toHaveLength(1);
      },
    );

    it('pays no more than the hold', async () => {
      chat.fake.answer = hangAnswer;
      void nextGrace(chat.gateway, GRACE_MS);
      const row = await disconnect({ max_tokens: 3 }, called);
      expect(row).toMatchObject({ completion_tokens: 3, usage_source: 'estimated' });
    });

    it.each(['word ', '今天天气很好', 'नमस्ते दुनिया '])(
      'in the middle of a long stream (%j) pays for the prompt and the output',
      async (piece) => {
        seen = '';
        let sent = 0;
        chat.fake.answer = async (_call, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (; !response.destroyed; sent++) {
            response.write(delta({ content: piece }));
            await wait(10);
          }
        };
        void nextGrace(chat.gateway, GRACE_MS);
        const row = await disconnect({ stream: true, max_tokens: 50_000 }, () =>
          until(() => seen.split(piece).length >= 20),
        );
        await within(30_000, chat.fake.calls[0]!.hungUp);
        expect(row).toMatchObject({ outcome: 'cancelled', usage_source: 'estimated' });
        // Output of the grace period counts; the extrapolation adds at most the other half.
        const made = countTokens(piece.repeat(sent));
        expect(row.completion_tokens).toBeGreaterThanOrEqual(made * 0.9);
        expect(row.completion_tokens).toBeLessThan(made * 2 + 500);
        expect(row.cost).toBe(row.prompt_tokens + row.completion_tokens * 2);
      },
    );

    it('in the middle of a whole answer that ends soon pays its figures', async () => {
      const left = nextGrace(chat.gateway);
      chat.fake.answer = async (call, response) => {
        await left;
        await politeAnswer({ promptTokens: 10, completionTokens: 20_000 })(call, response);
      };
      const row = await disconnect({ max_tokens: 30_000 }, called);
      expect(row).toMatchObject({
        outcome: 'cancelled',
        usage_source: 'upstream',
        completion_tokens: 20_000,
        cost: 40_010,
      });
    });

    const LATE_USAGE = { prompt_tokens: 50_000, completion_tokens: 20_003, total_tokens: 70_003 };
    const USER = { role: 'user', content: 'Hello' };
    const REASONED = [
      delta({ content: 'first' }),
      delta({ content: ' middle' }),
      delta({ content: ' last' }),
    ];

    it.each([
      ['first text', CHAT, 1],
      ['middle', CHAT, 2],
      ['last text', CHAT, 3],
      ['finish reason', CHAT, 4],
      ['first text', MESSAGES, 1],
      ['last text', MESSAGES, 3],
      ['first text', RESPONSES, 1],
      ['last text', RESPONSES, 3],
    ])(
      'at the %s of %s, near the end, pays the vendor’s figures: hidden reasoning, images, files',
      async (_moment, path, count) => {
        seen = '';
        const pieces = [...REASONED, finish(), usageChunk(LATE_USAGE), DONE];
        const left = nextGrace(chat.gateway);
        chat.fake.answer = async (_call, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (const piece of pieces.slice(0, count)) response.write(piece);
          await left;
          response.end(pieces.slice(count).join(''));
        };
        const limit = path === RESPONSES ? 'max_output_tokens' : 'max_tokens';
        const input = path === RESPONSES ? { input: 'Hello' } : { messages: [USER] };
        const row = await disconnect(
          { model: 'one/a', stream: true, [limit]: 30_000, ...input },
          saw(['first', 'middle', 'last', 'last'][count - 1]!),
          path,
        );
        expect(row).toMatchObject({
          outcome: 'cancelled',
          usage_source: 'upstream',
          prompt_tokens: 50_000,
          completion_tokens: 20_003,
          cost: 90_006,
        });
      },
    );

    it('pays nothing when its vendor fails meanwhile, and leaves the books balanced', async () => {
      const left = nextGrace(chat.gateway);
      chat.fake.answer = async (call, response) => {
        await left;
        await errorAnswer(500)(call, response);
      };
      const row = await disconnect({}, called);
      expect(row).toMatchObject({ outcome: 'cancelled', cost: 0, usage_source: 'none' });
      expect(chat.fake.calls).toHaveLength(1);
      expect(await findLedgerFaults(chat.gateway.database)).toEqual([]);
    });

    it('pays nothing during a vendor’s Retry-After', async () => {
      chat.fake.answer = errorAnswer(429, { message: 'later' }, { 'retry-after': '9' });
      const startedMs = performance.now();
      const row = await disconnect({}, called);
      expect(performance.now() - startedMs).toBeLessThan(8_000);
      expect(row).toMatchObject({ outcome: 'cancelled', cost: 0, usage_source: 'none' });
      await wait(100);
      expect(chat.fake.calls).toHaveLength(1);
    });

    it('ends the vendor’s calls also when many disconnect at once', async () => {
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
      await Promise.all(chat.fake.calls.map((call) => within(30_000, call.hungUp)));
      expect(chat.fake.calls).toHaveLength(answers.length);
    });
  });
});
