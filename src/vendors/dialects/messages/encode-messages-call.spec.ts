import { describe, expect, it } from '@jest/globals';
import { messagesRequest } from '../../../../test/support/prompt-requests.js';
import { encodeMessagesCall, encodeMessagesRelay } from './encode-messages-call.js';
import type { MessagesVendor } from './messages-vendor.js';

const relay = (body: unknown, options: object = {}) =>
  encodeMessagesRelay(messagesRequest(body), {
    upstreamModel: 'claude-x',
    signatureIssuer: 'maker',
    ...options,
  }).toString();

describe(encodeMessagesRelay.name, () => {
  it('replaces the model and leaves every other byte unchanged', () => {
    const body =
      '{ "model" : "anthropic\\/claude-x", "max_tokens": 1e1,\n "messages":[{"role":"user","content":"\\u0048i"}], "future_field": {"a": 1.0} }';
    expect(relay(body)).toBe(
      '{ "model" : "claude-x", "max_tokens": 1e1,\n "messages":[{"role":"user","content":"\\u0048i"}], "future_field": {"a": 1.0} }',
    );
  });

  it("removes the gateway's own fields", () => {
    const own = {
      models: ['a/b'],
      provider: {},
      route: 'fallback',
      trace: {},
      transforms: [],
      plugins: [],
      usage: {},
    };
    expect(JSON.parse(relay({ model: 'a/b', ...own, metadata: {}, stream: true }))).toEqual({
      model: 'claude-x',
      metadata: {},
      stream: true,
    });
  });

  it('limits searches to the number that credits are reserved for', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const other = { name: 'f', input_schema: {} };
    const tools = [search, { ...search, max_uses: 3 }, { ...search, max_uses: 500 }, other];
    const request = {
      ...messagesRequest({ model: 'a/b', tools }),
      webSearch: { most: 113, bound: { param: 'tools.0.type', message: 'No.' } },
    };
    const options = { upstreamModel: 'claude-x', signatureIssuer: 'maker' };
    expect(JSON.parse(encodeMessagesRelay(request, options).toString())).toMatchObject({
      tools: [
        { ...search, max_uses: 10 },
        { ...search, max_uses: 3 },
        { ...search, max_uses: 100 },
        other,
      ],
    });
  });

  it("adds and removes a platform's fields", () => {
    const options = {
      upstreamModel: undefined,
      without: ['stream'],
      adding: { anthropic_version: '"v1"' },
    };
    expect(JSON.parse(relay({ model: 'a/b', stream: true, top_k: 1 }, options))).toEqual({
      top_k: 1,
      anthropic_version: 'v1',
    });
  });

  it("restores the vendor's own reasoning and removes any other", () => {
    const body = (...content: unknown[]) => ({
      model: 'a/b',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content },
        {
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'x', signature: 'other:c2ln' }],
        },
      ],
    });
    const sent = JSON.parse(
      relay(
        body(
          { type: 'thinking', thinking: 'raw', signature: 'c2ln+/==' },
          { type: 'thinking', thinking: 'named', signature: 'maker:c2ln' },
          { type: 'thinking', thinking: '', signature: 'maker:redacted:ZGF0YQ==' },
          { type: 'redacted_thinking', data: 'other-maker:ZGF0YQ==' },
          { type: 'text', text: 'maker:not a signature' },
        ),
      ),
    ) as unknown;
    expect(sent).toEqual({
      model: 'claude-x',
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'raw', signature: 'c2ln+/==' },
            { type: 'thinking', thinking: 'named', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'ZGF0YQ==' },
            { type: 'text', text: 'maker:not a signature' },
          ],
        },
      ],
    });
  });

  it.each([{ messages: 'x' }, { messages: [null, 1, { content: [null] }] }, {}])(
    'passes %j on for the vendor to judge',
    (body) => {
      expect(JSON.parse(relay({ model: 'a/b', ...body }))).toEqual({ model: 'claude-x', ...body });
    },
  );
});

describe(encodeMessagesCall.name, () => {
  const vendor = { signatureIssuer: 'maker' } as MessagesVendor;
  const encode = (fields: object, ownOutputLimit?: number) => {
    const request = messagesRequest({ model: 'a/b', max_tokens: 9_000, ...fields });
    const call = { request, maxOutputTokens: ownOutputLimit ?? 9_000, ownOutputLimit };
    return JSON.parse(encodeMessagesCall(call, vendor, { model: 'm' }).body.toString()) as unknown;
  };

  it("replaces the caller's limit with the gateway's own", () => {
    expect(encode({})).toEqual({ model: 'm', max_tokens: 9_000 });
    const thinking = { type: 'enabled', budget_tokens: 2_047 };
    const fields = { max_cost: 5, max_cost_mode: 'fit', thinking };
    expect(encode(fields, 2_048)).toEqual({ model: 'm', max_tokens: 2_048, thinking });
  });

  it("refuses when the limit leaves no room for the caller's thinking budget", () => {
    const thinking = { type: 'enabled', budget_tokens: 2_048 };
    expect(() => encode({ thinking }, 2_048)).toThrow(
      expect.objectContaining({ failure: 'unsupported', param: 'max_cost' }),
    );
  });
});
