import { describe, expect, it } from '@jest/globals';
import { jsonBody } from '../../../test/support/chat-requests.js';
import type { BillableRoute } from '../../canonical/billable-route.js';
import type { CanonicalEvent, SettledEvent } from '../../canonical/canonical-event.js';
import { collect } from '../../canonical/collect.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { ProviderError } from '../../platform/errors/gateway-errors.js';
import { parseCompletion } from './completions.parse.js';
import { CompletionStreamRenderer, renderCompletion } from './completions.render.js';

const MODEL = 'one/a';

describe(parseCompletion.name, () => {
  const parse = (fields: object) => parseCompletion(jsonBody({ model: MODEL, ...fields }));

  it('builds a chat of one message with a decoded answer', () => {
    const request = parse({ prompt: 'Hi', max_tokens: 9, n: 2, stream: true, seed: 1, other: 'x' });
    expect(request).toMatchObject({
      dialect: 'chat',
      models: [MODEL],
      stream: true,
      choices: 2,
      maxOutputTokens: 9,
      decodesAnswer: true,
    });
    expect(request.body.value).toEqual({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 9,
      n: 2,
      stream: true,
      seed: 1,
      other: 'x',
    });
  });

  it('accepts an array of one text, and defaults', () => {
    const nothing = { suffix: null, echo: false, best_of: 1, logprobs: null, stop: null };
    const { value } = parse({ prompt: ['Hi'], ...nothing }).body;
    expect(value).toEqual({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hi' }],
      stop: null,
    });
    expect(parse({ prompt: 'Hi', best_of: 3, n: 3 }).choices).toBe(3);
  });

  it.each([
    ['prompt', {}],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: [] }],
    ['prompt', { prompt: [''] }],
    ['prompt', { prompt: ['a', 'b'] }],
    ['prompt', { prompt: [1, 2] }],
    ['prompt', { prompt: [[1, 2]] }],
    ['prompt', { prompt: 7 }],
    ['suffix', { prompt: 'Hi', suffix: 'end' }],
    ['echo', { prompt: 'Hi', echo: true }],
    ['logprobs', { prompt: 'Hi', logprobs: 0 }],
    ['best_of', { prompt: 'Hi', best_of: 2 }],
    ['max_tokens', { prompt: 'Hi', max_tokens: 0 }],
  ])('rejects an invalid %s', (param, fields) => {
    expect(() => parse(fields)).toThrow(expect.objectContaining({ param, status: 400 }));
  });
});

describe('legacy completion rendering', () => {
  const requestId = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const options = { requestId, created: 1_700_000_000, model: MODEL, includeUsage: true };
  const head = {
    id: 'cmpl-0f8fad5bd9cb469fa16570867728950e',
    object: 'text_completion',
    created: 1_700_000_000,
    model: 'one/b',
  };
  const route = { model: 'one/b', provider: 'one' } as BillableRoute;
  const usage = { ...NO_USAGE, inputTokens: 10, outputTokens: 5 };
  const settled: SettledEvent = { type: 'settled', cost: 7, usage, usageSource: 'upstream' };
  const events: CanonicalEvent[] = [
    { type: 'route', route, droppedParams: [] },
    { type: 'start', id: 'x' },
    { type: 'reasoning', choice: 0, text: 'Hm.' },
    { type: 'text', choice: 0, text: 'One' },
    { type: 'refusal', choice: 1, text: 'No' },
    { type: 'text', choice: 0, text: ' two' },
    { type: 'finish', choice: 0, reason: 'stop' },
    { type: 'finish', choice: 1, reason: 'length' },
    settled,
  ];
  const shown = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const choice = (index: number, text: string, reason: string | null = null): object => ({
    index,
    text,
    logprobs: null,
    finish_reason: reason,
  });
  const read = (text: string): unknown => JSON.parse(text.replace(/^data: |\n\n$/g, ''));

  it('renders a whole answer as one object', async () => {
    const whole = await collect(
      (async function* () {
        yield* events;
      })(),
    );
    expect(renderCompletion(whole, options)).toMatchObject({
      ...head,
      choices: [choice(0, 'One two', 'stop'), choice(1, 'No', 'length')],
      usage: shown,
    });
  });

  it('renders a stream as one chunk per piece of text', () => {
    const renderer = new CompletionStreamRenderer(options);
    const chunks = events.flatMap((event) => renderer.render(event) ?? []).map(read);
    expect(chunks).toMatchObject([
      { ...head, choices: [choice(0, 'One')] },
      { ...head, choices: [choice(1, 'No')] },
      { ...head, choices: [choice(0, ' two')] },
      { ...head, choices: [choice(0, '', 'stop')] },
      { ...head, choices: [choice(1, '', 'length')] },
      { ...head, choices: [], usage: shown },
    ]);
    expect(renderer.end()).toBe('data: [DONE]\n\n');
    const silent = new CompletionStreamRenderer({ ...options, includeUsage: false });
    expect(silent.render(settled)).toBeUndefined();
  });

  it('reports a failure within the stream', () => {
    const renderer = new CompletionStreamRenderer(options);
    expect(read(renderer.error(new ProviderError('It broke.')))).toMatchObject({
      error: { message: 'It broke.' },
      choices: [choice(0, '', 'error')],
    });
  });
});
