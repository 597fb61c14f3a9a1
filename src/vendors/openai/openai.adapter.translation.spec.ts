import { describe, expect, it } from '@jest/globals';
import { canonicalRequest } from '../../../test/support/canonical-requests.js';
import {
  collectEvents,
  drivenTransport,
  sendJson,
} from '../../../test/support/driven-transport.js';
import { LONG_LIMITS } from '../../../test/support/fake-connection.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { OpenAiAdapter } from './openai.adapter.js';
import {
  provider,
  answer,
  chunk,
  ROUTE,
  generate,
  SSE,
} from '../../../test/support/openai-adapter-calls.js';

describe(OpenAiAdapter.name, () => {
  describe('for a caller of another dialect', () => {
    const bodyOf = async (overrides: Partial<ProviderConfig>): Promise<unknown> => {
      const request = canonicalRequest({}, { maxOutputTokens: 9 });
      const { events, calls } = generate(sendJson(answer), {}, { request, ...overrides });
      await collectEvents(events);
      return JSON.parse(String(calls[0]?.body));
    };

    it('translates the request and a whole answer', async () => {
      const { events, calls } = generate(sendJson(answer), {}, { request: canonicalRequest() });
      expect(await collectEvents(events)).toEqual([
        { type: 'start', id: 'x' },
        { type: 'text', choice: 0, text: 'Hi' },
        { type: 'finish', choice: 0, reason: 'stop' },
      ]);
      expect(JSON.parse(String(calls[0]?.body))).toEqual({
        model: 'gpt-4o-mini',
        messages: [{ role: 'user', content: 'Hi' }],
      });
    });

    it('translates a stream', async () => {
      const { events } = generate(
        (connection) =>
          void connection
            .answer(200, SSE)
            .send(chunk({ content: 'H' }) + chunk({ content: 'i' }) + chunk({}, 'stop'))
            .end(),
        {},
        { request: canonicalRequest({}, { stream: true }) },
      );
      expect(await collectEvents(events)).toEqual([
        { type: 'start', id: 'x' },
        { type: 'text', choice: 0, text: 'H' },
        { type: 'text', choice: 0, text: 'i' },
        { type: 'finish', choice: 0, reason: 'stop' },
      ]);
    });

    it.each([
      ['openai', 'gpt-4o-mini', undefined, ['reasoning']],
      ['openai', 'ft:gpt-4.1:x', undefined, ['reasoning']],
      ['openai', 'gpt-5.4', 'high', []],
      ['compatible', 'gpt-4o-mini', 'high', []],
    ])('%s: sends %s the effort %s', async (id, upstreamModel, effort, dropped) => {
      const { transport, calls } = drivenTransport(sendJson(answer));
      const adapter = new OpenAiAdapter({ ...provider, id }, transport);
      const request = canonicalRequest({ reasoning: { effort: 'high' } });
      const route = { ...ROUTE, upstreamModel };
      const { signal } = new AbortController();
      await collectEvents(
        adapter.generate({ ...route, request, alias: 'a/b', limits: LONG_LIMITS, signal }),
      );
      const body = JSON.parse(String(calls[0]?.body)) as Record<string, unknown>;
      expect(body.reasoning_effort).toBe(effort);
      expect(adapter.droppedParams(request, route)).toHaveLength(dropped.length);
    });

    it('shortens end-user ids to the length that the vendor accepts', async () => {
      const named = async (endUser: string): Promise<unknown> => {
        const request = canonicalRequest({ endUser });
        const { events, calls } = generate(sendJson(answer), {}, { request });
        await collectEvents(events);
        return (JSON.parse(String(calls[0]?.body)) as Record<string, unknown>).user;
      };
      expect(await named('u'.repeat(64))).toBe('u'.repeat(64));
      expect(await named('u'.repeat(65))).toMatch(/^user_[\w-]{32}$/);
      expect(await named('u'.repeat(66))).not.toBe(await named('u'.repeat(65)));
    });

    it('uses the new name of the output limit for the vendor, and the old one elsewhere', async () => {
      expect(await bodyOf({})).toMatchObject({ max_completion_tokens: 9 });
      expect(await bodyOf({ id: 'local' })).toMatchObject({ max_tokens: 9 });
    });

    it('uses the name of the output limit from the settings', async () => {
      const settings = { outputLimitField: 'max_completion_tokens' };
      expect(await bodyOf({ id: 'local', settings })).toMatchObject({ max_completion_tokens: 9 });
    });

    it.each([
      [{}, false],
      [{ prefill: 'prefix' }, true],
      [{ prefill: 'nonsense' }, false],
    ])('continues an assistant message as set by %j', (settings, expected) => {
      const { transport } = drivenTransport(sendJson(answer));
      const adapter = new OpenAiAdapter({ ...provider, id: 'local', settings }, transport);
      expect(adapter.continuesPrefill(canonicalRequest())).toBe(expected);
      const reasons = canonicalRequest({ reasoning: { effort: 'high' } });
      expect(adapter.continuesPrefill(reasons)).toBe(false);
    });

    it('makes no calls for content that the dialect cannot express', async () => {
      const source = { kind: 'url', url: 'https://a.b/c.pdf' } as const;
      const messages = [{ role: 'user', parts: [{ type: 'document', source }] }] as const;
      const request = canonicalRequest({ messages });
      const { events, calls } = generate(sendJson(answer), {}, { request });
      await expect(collectEvents(events)).rejects.toMatchObject({ failure: 'unsupported' });
      expect(calls).toHaveLength(0);
    });

    it('lists fields that the dialect does not support', () => {
      const adapter = new OpenAiAdapter(provider, drivenTransport(() => undefined).transport);
      const request = canonicalRequest({ sampling: { topK: 1 }, droppedFields: ['mcp_servers'] });
      expect(adapter.droppedParams(request, ROUTE)).toEqual(['top_k', 'mcp_servers']);
    });
  });
});
