import { describe, expect, it } from '@jest/globals';
import { collectEvents } from '../../../test/support/driven-transport.js';
import { chatRequest } from '../../../test/support/chat-requests.js';
import { LONG_LIMITS } from '../../../test/support/fake-connection.js';
import { messagesRequest } from '../../../test/support/messages-requests.js';
import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { parseJsonBody } from '../../platform/http/json-body.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { SandboxAdapter } from './sandbox.adapter.js';

interface CallOptions {
  model?: string;
  signal?: AbortSignal;
  limits?: Partial<typeof LONG_LIMITS>;
}

function generate(
  fields: Record<string, unknown>,
  { model = 'echo', signal = new AbortController().signal, limits }: CallOptions = {},
): AsyncIterable<CanonicalEvent> {
  return new SandboxAdapter().generate({
    request: chatRequest(fields),
    alias: `sandbox/${model}`,
    upstreamModel: model,
    limits: { ...LONG_LIMITS, ...limits },
    maxOutputTokens: 4_096,
    signal,
  });
}

/** Returns the answer's text, finish reasons and usage. */
async function ask(fields: Record<string, unknown>, options?: CallOptions) {
  const events = await collectEvents(generate(fields, options));
  const texts: string[] = [];
  for (const event of events) {
    if (event.type === 'text') texts[event.choice] = (texts[event.choice] ?? '') + event.text;
  }
  const reasons = events.flatMap((event) => (event.type === 'finish' ? [event.reason] : []));
  const usages = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
  return { events, texts, text: texts[0] ?? '', reasons, usage: usages[0] };
}

const say = (content: string) => ({ messages: [{ role: 'user', content }] });
const tools = [
  {
    type: 'function',
    function: {
      name: 'weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
  { type: 'function', function: { name: 'time' } },
];

describe(SandboxAdapter.name, () => {
  describe('echo', () => {
    it('repeats the last message word by word and counts words', async () => {
      const { events, text, reasons, usage } = await ask({
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'first' },
          { role: 'user', content: 'größe  🙂\nend' },
          { role: 'system', content: 'ignored' },
        ],
      });
      expect(text).toBe('Sandbox echo: größe  🙂\nend');
      expect(reasons).toEqual(['stop']);
      expect(usage).toMatchObject({ inputTokens: 7, outputTokens: 5, reasoningTokens: 0 });
      expect(events[0]).toEqual({ type: 'start' });
      expect(events.filter(({ type }) => type === 'text')).toHaveLength(5);
    });

    it('is deterministic', async () => {
      expect(await ask(say('again'))).toEqual(await ask(say('again')));
    });

    it('answers a conversation without a user message', async () => {
      const { text } = await ask({ messages: [{ role: 'system', content: 'x' }] });
      expect(text).toBe('Sandbox echo: ');
    });

    it('repeats the result of a tool', async () => {
      const { text } = await ask({
        tools,
        messages: [
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            tool_calls: [{ id: 'a', function: { name: 'weather', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'rain' },
        ],
      });
      expect(text).toBe('Sandbox echo: rain');
    });

    it('returns as many answers as requested', async () => {
      const { texts, reasons, usage } = await ask({ ...say('hi'), n: 3 });
      expect(texts).toEqual(Array(3).fill('Sandbox echo: hi'));
      expect(reasons).toHaveLength(3);
      expect(usage?.outputTokens).toBe(9);
    });
  });

  describe('limits', () => {
    it.each([
      [1, 'Sandbox ', 'length'],
      [2, 'Sandbox echo: ', 'length'],
      [3, 'Sandbox echo: hi', 'stop'],
      [100, 'Sandbox echo: hi', 'stop'],
    ])('of %d tokens return %j and finish with %s', async (max_tokens, text, reason) => {
      const answer = await ask({ ...say('hi'), max_tokens });
      expect(answer).toMatchObject({ text, reasons: [reason] });
      expect(answer.usage?.outputTokens).toBe(Math.min(max_tokens, 3));
    });

    it.each<[unknown, string]>([
      ['two', 'Sandbox echo: one '],
      [['three', 'two'], 'Sandbox echo: one '],
      ['Sandbox', ''],
      [['nowhere'], 'Sandbox echo: one two three'],
      [['', 'three'], 'Sandbox echo: one two '],
      ['', 'Sandbox echo: one two three'],
      [null, 'Sandbox echo: one two three'],
    ])('stop at %j', async (stop, text) => {
      expect(await ask({ ...say('one two three'), stop })).toMatchObject({
        text,
        reasons: ['stop'],
      });
    });
  });

  describe('words', () => {
    it.each([
      ['no number', 50],
      ['write 7 words', 7],
      ['0 words', 0],
      ['3 or 9', 3],
      ['999999999', 100_000],
    ])('for %j', async (content, count) => {
      const { text, usage, reasons } = await ask(say(content), { model: 'words' });
      expect(text.split(' ').filter((word) => word !== '')).toHaveLength(count);
      expect(usage?.outputTokens).toBe(count);
      expect(reasons).toEqual(['stop']);
    });

    it('yields to other work in between', async () => {
      let turns = 0;
      const counting = setInterval(() => turns++, 0);
      await ask({ ...say('20000 words'), n: 4 }, { model: 'words' });
      clearInterval(counting);
      expect(turns).toBeGreaterThan(5);
    });

    it('ends when its caller disconnects', async () => {
      const aborter = new AbortController();
      const events = generate(say('100000'), { model: 'words', signal: aborter.signal });
      let texts = 0;
      const reading = (async () => {
        for await (const event of events) {
          if (event.type === 'text' && ++texts === 700) aborter.abort();
        }
      })();
      await expect(reading).rejects.toBeInstanceOf(CallAbortedError);
      expect(texts).toBe(700);
    });
  });

  describe('structured output', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } };

    it('fits the schema', async () => {
      const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
      const { text } = await ask({ ...say('hi'), response_format });
      expect(JSON.parse(text)).toEqual({ city: 'sandbox' });
    });

    it('is an object when only JSON is requested', async () => {
      const { text } = await ask({ ...say('"hi"'), response_format: { type: 'json_object' } });
      expect(JSON.parse(text)).toEqual({ sandbox: true, echo: '"hi"' });
    });
  });

  describe('tools', () => {
    const callsOf = (events: CanonicalEvent[]) =>
      events.filter(({ type }) => type === 'tool_call' || type === 'tool_arguments');

    it('calls the first one after a user message', async () => {
      const { events, reasons, usage } = await ask({ ...say('hi'), tools });
      expect(callsOf(events)).toEqual([
        { type: 'tool_call', choice: 0, index: 0, id: 'call_sandbox_0', name: 'weather' },
        { type: 'tool_arguments', choice: 0, index: 0, text: '{"city":"sandbox"}' },
      ]);
      expect(reasons).toEqual(['tool_calls']);
      expect(usage?.outputTokens).toBe(1);
    });

    it.each<[unknown, string | undefined]>([
      ['none', undefined],
      ['auto', 'weather'],
      ['required', 'weather'],
      [{ type: 'function', function: { name: 'time' } }, 'time'],
      [{ type: 'function', function: { name: 'nothing' } }, undefined],
    ])('honors tool_choice %j', async (tool_choice, name) => {
      const { events } = await ask({ ...say('hi'), tools, tool_choice });
      const [call] = callsOf(events);
      expect(call?.type === 'tool_call' ? call.name : undefined).toBe(name);
    });

    it('calls one without parameters', async () => {
      const { events } = await ask({ ...say('hi'), tools: tools.slice(1) });
      expect(callsOf(events)[1]).toMatchObject({ text: '{}' });
    });
  });

  describe('faults', () => {
    const fail = (fault: string, options: CallOptions = {}) =>
      collectEvents(generate(say('hi'), { ...options, model: `fault-${fault}` }));

    it.each<[string, object]>([
      ['400', { failure: 'caller', status: 400 }],
      ['401', { failure: 'operator', status: 401 }],
      ['404', { failure: 'operator', status: 404 }],
      ['408', { failure: 'timeout', status: 408 }],
      ['429', { failure: 'rate_limited', status: 429, retryAfterMs: 1_000 }],
      ['500', { failure: 'server', status: 500 }],
      ['503', { failure: 'server', status: 503 }],
      ['reset', { failure: 'reset' }],
    ])('%s', async (fault, expected) => {
      await expect(fail(fault)).rejects.toMatchObject({ name: 'UpstreamError', ...expected });
    });

    it('cut interrupts the answer after some text', async () => {
      const types: string[] = [];
      const reading = (async () => {
        for await (const { type } of generate(say('hi'), { model: 'fault-cut' })) types.push(type);
      })();
      await expect(reading).rejects.toMatchObject({ failure: 'cut' });
      expect(types).toEqual(['start', 'text']);
    });

    it('hang runs into the time limit', async () => {
      await expect(fail('hang', { limits: { firstByteMs: 20 } })).rejects.toMatchObject({
        failure: 'timeout',
      });
      await expect(fail('hang', { limits: { requestMs: 20 } })).rejects.toMatchObject({
        failure: 'timeout',
      });
    });

    it('hang ends when its caller disconnects', async () => {
      const aborter = new AbortController();
      const failing = fail('hang', { signal: aborter.signal });
      setImmediate(() => aborter.abort());
      await expect(failing).rejects.toBeInstanceOf(CallAbortedError);
    });
  });

  it('lists parameters without effect', () => {
    const body = parseJsonBody(Buffer.from('{"temperature":1,"logprobs":true,"seed":null,"n":2}'));
    const chat = { dialect: 'chat', body } as CanonicalRequest;
    expect(new SandboxAdapter().droppedParams(chat)).toEqual(['temperature', 'logprobs']);
    const messages = messagesRequest({
      top_k: 5,
      stop_sequences: ['x'],
      metadata: { user_id: 'u' },
      thinking: { type: 'adaptive' },
      new_field: 1,
    });
    expect(new SandboxAdapter().droppedParams(messages)).toEqual([
      'top_k',
      'thinking',
      'new_field',
    ]);
  });
});
