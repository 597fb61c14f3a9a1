import { describe, expect, it } from '@jest/globals';
import { allCallers, DIALECTS } from '../contract/callers/all-callers.js';
import type { DialectCaller } from '../contract/callers/dialect-caller.js';
import type { Reply } from '../contract/contract-vendor.js';
import { startFleet } from '../contract/fleet-of-suite.js';
import { type VendorFleet } from '../contract/vendor-fleet.js';
import { loggedRequest } from '../support/logged-request.js';

const HEAD = '"id":"x","object":"chat.completion.chunk","created":1,"model":"m"';
const USAGE = '"usage":{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23}';

/** Streams of an OpenAI-compatible server by the position of usage. */
const STREAMS: Record<string, { events: string[]; isCounted: boolean }> = {
  'in the last chunk of a choice': {
    events: [
      `{${HEAD},"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello."},"finish_reason":null}]}`,
      `{${HEAD},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],${USAGE}}`,
    ],
    isCounted: true,
  },
  'in every chunk, with the last one counting': {
    events: [
      `{${HEAD},"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}],"usage":{"prompt_tokens":20,"completion_tokens":1}}`,
      `{${HEAD},"choices":[{"index":0,"delta":{"content":"lo."},"finish_reason":"stop"}],${USAGE}}`,
    ],
    isCounted: true,
  },
  nowhere: {
    events: [
      `{${HEAD},"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello."},"finish_reason":null}]}`,
      `{${HEAD},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
    ],
    isCounted: false,
  },
};

const COMBINATIONS = DIALECTS.flatMap((dialect) =>
  Object.keys(STREAMS).map((place) => ({ dialect, place })),
);

describe('usage in unusual places, and safety stops', () => {
  let fleet: VendorFleet;
  let callers: Record<DialectCaller['name'], DialectCaller>;

  startFleet((started) => {
    fleet = started;
    callers = allCallers(fleet.gateway);
  });

  const logged = (caller: DialectCaller) =>
    loggedRequest(fleet.gateway.database, caller.lastRequestId());

  it.each(COMBINATIONS)('is $place, and shown in $dialect as charged', async (combination) => {
    const { events, isCounted } = STREAMS[combination.place]!;
    const caller = callers[combination.dialect];
    const member = fleet.member('compatible');
    const body = [...events, '[DONE]'].map((event) => `data: ${event}\n\n`).join('');
    member.send(stream(body));
    const { text, usage } = await caller.ask(member.model, true);
    expect(text).toBe('Hello.');
    const row = await logged(caller);
    expect(row).toMatchObject({
      usage_source: isCounted ? 'upstream' : 'estimated',
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
    });
    if (isCounted) expect(usage).toMatchObject({ input: 20, output: 3 });
  });

  it.each(DIALECTS)('is estimated when it lacks the output, and marked in %s', async (dialect) => {
    const caller = callers[dialect];
    const member = fleet.member('compatible');
    const text = 'x'.repeat(400);
    member.send(json(chatAnswer(text, { prompt_tokens: 10 })));
    const { usage } = await caller.ask(member.model, false);
    expect(usage).toMatchObject({ input: 10, output: 100 });
    expect(await logged(caller)).toMatchObject({
      usage_source: 'estimated',
      prompt_tokens: 10,
      completion_tokens: 100,
    });
  });

  it('is capped at the model’s limits, which is logged for the operator', async () => {
    const member = fleet.member('compatible');
    for (const isStream of [false, true]) {
      const usage = { prompt_tokens: 900_000_000, completion_tokens: 800_000_000 };
      const answer = chatAnswer('Hello.', usage);
      const { choices, ...rest } = answer;
      const [{ message, ...choice }] = choices;
      const chunk = { ...rest, choices: [{ ...choice, delta: message }] };
      const events = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
      member.send(isStream ? stream(events) : json(answer));
      await callers.chat.ask(member.model, isStream);
      expect(await logged(callers.chat)).toMatchObject({
        usage_source: 'upstream',
        prompt_tokens: 128_000,
        completion_tokens: 128_000,
      });
    }
    const metrics = await fleet.gateway.fetch('/metrics');
    expect(await metrics.text()).toMatch(/^gateway_usage_capped_total\{.+\} 2$/m);
  });

  it.each(DIALECTS)('a refusal field is text or a refusal in %s', async (dialect) => {
    const member = fleet.member('compatible');
    const message = { role: 'assistant', content: null, refusal: 'I will not.' };
    const answer = {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    };
    member.send(json(answer));
    const { raw, end } = await callers[dialect].ask(member.model, false);
    expect(JSON.stringify(raw)).toContain('I will not.');
    expect(end).toBe(callers[dialect].ends.stop);
  });

  it.each(DIALECTS)('a prompt blocked by the vendor ends accordingly in %s', async (dialect) => {
    const caller = callers[dialect];
    const member = fleet.member('vertex');
    const blocked = {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    };
    for (const isStream of [false, true]) {
      member.send(isStream ? stream(`data: ${JSON.stringify(blocked)}\r\n\r\n`) : json(blocked));
      const answer = await caller.ask(member.model, isStream);
      expect(answer).toMatchObject({
        text: '',
        end: caller.ends.content_filter,
        usage: { input: 9, output: 0 },
      });
      expect(await logged(caller)).toMatchObject({ cost: 9, finish_reason: 'content_filter' });
    }
  });

  it.each(DIALECTS)('a prompt refused by a filter is a bad request in %s', async (dialect) => {
    const member = fleet.member('azure');
    const error = {
      message: 'The response was filtered.',
      type: null,
      param: 'prompt',
      code: 'content_filter',
      status: 400,
    };
    member.send({ ...json({ error }), status: 400 });
    const request = callers[dialect].ask(member.model, false);
    await expect(request).rejects.toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      message: expect.stringContaining('The response was filtered.') as unknown,
    });
  });
});

function chatAnswer(content: string, usage: object) {
  const message = { role: 'assistant', content };
  return {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'stop' }] as const,
    usage,
  };
}

function json(value: object): Reply {
  const headers = { 'content-type': 'application/json' };
  return { status: 200, headers, body: Buffer.from(JSON.stringify(value)) };
}

function stream(text: string): Reply {
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: Buffer.from(text) };
}
