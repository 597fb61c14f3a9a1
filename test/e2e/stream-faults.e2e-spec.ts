import { describe, expect, it } from '@jest/globals';
import { setUpStreamedChat } from '../support/streamed-chat.js';
import { IDLE_MS } from '../support/boot-with-vendor.js';
import { expectError, partsOf } from '../support/error-answers.js';
import { type FakeAnswer } from '../support/fake-openai.js';
import { readStream } from '../support/streamed-answer.js';
import { within } from '../support/within.js';
import {
  chunk,
  contentOf,
  cutWithinCharacters,
  delta,
  DONE,
  finish,
  slices,
  streamOf,
  USAGE,
  usageChunk,
  type Ending,
  type Piece,
} from '../support/vendor-stream.js';

/** 10 tokens at 1 credit and 5 at 2. */
const COST = 20;
const RUNNING = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const LAST_CHOICE = [{ index: 0, delta: {}, finish_reason: 'stop' }];

describe('a vendor that misbehaves in a stream', () => {
  const chat = setUpStreamedChat();
  const { ask, rowOf } = chat;

  const FAULTS: [string, Piece[], Ending][] = [
    ['an error chunk', ['data: {"error":{"message":"overloaded","code":null}}\n\n'], 'hang'],
    ['an error as text', ['data: {"error":"overloaded"}\n\n'], 'hang'],
    ['invalid JSON', ['data: {"id":"x","choices":[{"index":0,"de\n\n'], 'hang'],
    ['a chunk that is not an object', ['data: [1]\n\n'], 'hang'],
    ['the end without a finish reason', [], 'end'],
    ['[DONE] without a finish reason', [DONE], 'end'],
    ['a broken connection', [], 'destroy'],
    ['a half event and the end', ['data: {"choices":[{"index":0,"delta":{"content":"no'], 'end'],
    ['one of two answers unfinished', [delta({ content: 'x' }, null, 1), finish(), DONE], 'end'],
  ];

  describe('after content', () => {
    it.each(FAULTS)('%s: one last event with the error, at no cost', async (_n, pieces, end) => {
      chat.fake.answer = streamOf([delta({ content: 'Half ' }), ...pieces], end);
      const answer = await readStream(await ask());
      expect(answer.text).toMatch(/^Half /);
      expect(answer.last).toMatchObject({
        model: 'one/a',
        error: { type: 'provider_error', code: 502, param: 'model' },
        choices: [{ index: 0, delta: {}, finish_reason: 'error' }],
      });
      expect([answer.isDone, answer.isCut]).toEqual([false, true]);
      expect(answer.chunks.filter((chunk) => chunk.error)).toHaveLength(1);
      expect(await rowOf(answer.id)).toMatchObject({
        outcome: 'failed',
        status: 'error',
        error_type: 'provider_error',
        cost: 0,
      });
      expect(chat.fake.calls).toHaveLength(1);
      if (end === 'hang') await within(30_000, chat.fake.calls[0]!.hungUp);
    });

    const half = Buffer.from(delta({ content: 'Half ' }));
    const halfInLines = Buffer.from(half.toString().replaceAll('\n', '\r\n'));
    it('silence after an event, whole or in pieces: a timeout error, and the end', async () => {
      const cuttings = [
        [half],
        slices(half, 1),
        slices(halfInLines, 1),
        [half, half.subarray(0, 40)],
      ];
      chat.fake.answer = (call, response) =>
        streamOf(cuttings[Number(call.body.max_tokens) - 1]!, 'hang')(call, response);
      const outlast = async (_pieces: Buffer[], index: number): Promise<void> => {
        const startedMs = performance.now();
        const answer = await readStream(await ask({ max_tokens: index + 1 }));
        expect(performance.now() - startedMs).toBeLessThan(IDLE_MS + 15_000);
        expect(performance.now() - startedMs).toBeGreaterThanOrEqual(IDLE_MS);
        expect(answer.text).toBe('Half ');
        expect(answer.last).toMatchObject({
          error: { type: 'timeout_error', code: 504, param: 'model' },
          choices: [{ finish_reason: 'error' }],
        });
        expect(answer.isDone).toBe(false);
        expect(await rowOf(answer.id)).toMatchObject({ outcome: 'failed', cost: 0 });
      };
      await Promise.all(cuttings.map(outlast));
      expect(chat.fake.calls).toHaveLength(cuttings.length);
      await Promise.all(chat.fake.calls.map(({ hungUp }) => within(30_000, hungUp)));
    });

    it('slow pieces are not silence', async () => {
      const pieces = Array.from({ length: 16 }, () => delta({ content: 'x' }));
      chat.fake.answer = streamOf([...pieces, finish(), DONE], 'end', IDLE_MS / 8);
      expect((await readStream(await ask())).text).toBe('x'.repeat(16));
    });
  });

  describe('before content', () => {
    it.each(FAULTS.filter(([name]) => !name.startsWith('one of two')))(
      '%s: an ordinary error, at no cost',
      async (_name, pieces, end) => {
        chat.fake.answer = streamOf([delta({ role: 'assistant', content: '' }), ...pieces], end);
        const answer = await partsOf(await ask());
        const id = expectError(answer, 502, 'provider_error', 'model');
        expect(await rowOf(id)).toMatchObject({ outcome: 'failed', cost: 0 });
      },
    );

    it.each<[string, FakeAnswer]>([
      ['a completion', contentOf('application/json', '{"choices":[]}')],
      ['a page', contentOf('text/html', '<p>Sign in</p>')],
      [
        'a stream with another content type',
        contentOf('text/plain', delta({ content: 'x' }) + DONE),
      ],
      ['nothing', streamOf([], 'end')],
      ['[DONE] alone', streamOf([DONE], 'end')],
      ['only comments', streamOf([': a\n\n', ': b\n\n'], 'end')],
      ['an event of 17 MB', streamOf([delta({ content: 'x'.repeat(17_000_000) }), DONE], 'end')],
    ])('%s instead of a stream: an ordinary error', async (_name, answer) => {
      chat.fake.answer = answer;
      expectError(await partsOf(await ask()), 502, 'provider_error', 'model');
    });

    it.each<[string, object, number, string, string]>([
      ['a rate limit', { code: 429 }, 429, 'rate_limit_error', 'model'],
      ['a bad field', { code: 400, param: 'top_p' }, 400, 'invalid_request_error', 'top_p'],
      [
        'a prompt that is too long',
        { code: 'context_length_exceeded' },
        400,
        'invalid_request_error',
        'messages',
      ],
    ])(
      'an error as JSON with status 200, %s: the error it contains',
      async (_name, error, ...expected) => {
        const body = JSON.stringify({ error: { message: 'It cannot be done.', ...error } });
        chat.fake.answer = contentOf('application/json; charset=utf-8', body);
        expectError(await partsOf(await ask()), ...expected);
      },
    );

    it('silence: 504', async () => {
      chat.fake.answer = streamOf([delta({ role: 'assistant', content: '' })], 'hang');
      expectError(await partsOf(await ask()), 504, 'timeout_error', 'model');
    });
  });

  describe('unusual but valid', () => {
    const text = 'Grüße, 日本 👋🏽 "so" \\ "delta":{"content":" [DONE]\n\ndata: x ';
    const plain = [
      delta({ role: 'assistant', content: '' }),
      ...Array.from(text, (character) => delta({ content: character })),
      finish(),
      usageChunk(),
      DONE,
    ];
    const pairs = plain.flatMap((piece, at) => (at % 2 ? [] : [piece + (plain[at + 1] ?? '')]));
    const whole = Buffer.from(plain.join(''));
    const marked = plain.map((piece) => `: note\nevent: chunk\nid: 7\nretry: 1\n${piece}`);
    const tail = [delta({ content: text }), finish(), usageChunk().trimEnd()];

    it.each<[string, Piece[], Ending]>([
      ['event by event', plain, 'end'],
      ['all at once', [whole], 'end'],
      ['two events a piece', pairs, 'end'],
      ['byte by byte', Array.from(whole, (byte) => Buffer.from([byte])), 'end'],
      ['in pieces of 7 bytes', slices(whole, 7), 'end'],
      ['cut within characters', cutWithinCharacters(whole), 'end'],
      ['with CRLF', plain.map((piece) => piece.replaceAll('\n', '\r\n')), 'end'],
      [
        'with CRLF, in pieces of 3 bytes',
        slices(Buffer.from(whole.toString().replaceAll('\n', '\r\n')), 3),
        'end',
      ],
      ['without a space after the colon', plain.map((p) => p.replace('data: ', 'data:')), 'end'],
      ['with comments and other fields', marked, 'end'],
      ['with data on two lines', plain.map((p) => p.replace('{"id"', '{\ndata: "id"')), 'end'],
      ['with more after [DONE]', [...plain, delta({ content: 'ghost' }), 'data: {bad\n\n'], 'end'],
      ['open after [DONE]', plain, 'hang'],
      ['without [DONE]', plain.slice(0, -1), 'end'],
      ['broken instead of [DONE]', plain.slice(0, -1), 'destroy'],
      ['silent instead of [DONE]', plain.slice(0, -1), 'hang'],
      ['without the last blank line', tail, 'end'],
      ['with usage: null in each', plain.map((p) => p.replace(']}', '],"usage":null}')), 'end'],
      [
        'with usage in each',
        plain.map((p) => p.replace(']}', `],"usage":${JSON.stringify(RUNNING)}}`)),
        'end',
      ],
      [
        'with usage only next to the finish reason',
        [...plain.slice(0, -3), chunk({ choices: LAST_CHOICE, usage: USAGE }), DONE],
        'end',
      ],
      [
        'with usage twice, the last one correct',
        [...plain.slice(0, -2), usageChunk(RUNNING), usageChunk(), DONE],
        'end',
      ],
    ])('a stream %s', async (_name, pieces, end) => {
      for (const include_usage of [true, false]) {
        chat.fake.answer = streamOf(pieces, end);
        const answer = await readStream(await ask({ stream_options: { include_usage } }));
        expect(answer.text).toBe(text);
        expect(answer.isDone).toBe(true);
        expect(new Set(answer.chunks.map((chunk) => chunk.model))).toEqual(new Set(['one/a']));
        expect(answer.finishReasons).toEqual(['stop']);
        const usages = answer.chunks.filter((chunk) => chunk.usage);
        expect(usages).toEqual(
          include_usage ? [expect.objectContaining({ choices: [], usage: USAGE })] : [],
        );
        if (include_usage) expect(answer.last.usage).toEqual(USAGE);
        expect(await rowOf(answer.id)).toMatchObject({
          outcome: 'completed',
          cost: COST,
          usage_source: 'upstream',
          finish_reason: 'stop',
        });
      }
    });

    it('an event of 10 MB', async () => {
      const large = 'Grüße '.repeat(1_400_000);
      chat.fake.answer = streamOf([delta({ content: large }), finish(), usageChunk(), DONE], 'end');
      const answer = await within(60_000, ask().then(readStream));
      expect(answer.text === large).toBe(true);
    });

    it('a content type in uppercase', async () => {
      chat.fake.answer = contentOf('Text/Event-Stream;charset=UTF-8', plain.join(''));
      expect((await readStream(await ask())).text).toBe(text);
    });

    it('two answers, interleaved', async () => {
      chat.fake.answer = streamOf(
        [
          ...['a', 'b', 'c'].flatMap((content) => [
            delta({ content }, null, 0),
            delta({ content: content.toUpperCase() }, null, 1),
          ]),
          delta({}, 'stop', 1),
          delta({}, 'length', 0),
          usageChunk(),
          DONE,
        ],
        'end',
      );
      const answer = await readStream(await ask({ n: 2 }));
      const textOf = (index: number): string =>
        answer.chunks
          .flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index))
          .map((choice) => choice.delta.content ?? '')
          .join('');
      expect([textOf(0), textOf(1)]).toEqual(['abc', 'ABC']);
      expect(answer.isDone).toBe(true);
    });

    it.each([true, false])('no usage: estimated, shown on request (%s)', async (wantsUsage) => {
      chat.fake.answer = streamOf([delta({ content: 'y'.repeat(41) }), finish(), DONE], 'end');
      const answer = await readStream(await ask({ stream_options: { include_usage: wantsUsage } }));
      const estimate = { prompt_tokens: 100, completion_tokens: 11, total_tokens: 111 };
      const usages = answer.chunks.filter((chunk) => chunk.usage);
      expect(usages).toEqual(
        wantsUsage
          ? [expect.objectContaining({ choices: [], usage: expect.objectContaining(estimate) })]
          : [],
      );
      expect(answer.isDone).toBe(true);
      expect(await rowOf(answer.id)).toMatchObject({
        usage_source: 'estimated',
        prompt_tokens: 100,
        completion_tokens: 11,
        cost: 100 + 11 * 2,
      });
    });
  });
});
