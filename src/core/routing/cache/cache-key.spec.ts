import { describe, expect, it } from '@jest/globals';
import { canonicalRequest } from '../../../../test/support/canonical-requests.js';
import { jsonBody } from '../../../../test/support/chat-requests.js';
import { embeddingRequest } from '../../../../test/support/embedding-requests.js';
import type { Dialect } from '../../../canonical/canonical-request.js';
import { parseJsonBody } from '../../../platform/http/json-body.js';
import { cacheKeyOf } from './cache-key.js';

const BODY = {
  model: 'a/b',
  messages: [{ role: 'user', content: 'Hi' }],
  tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
};

function keyOf(body: object | string, dialect: Dialect = 'chat', tenant = 'tenant'): string {
  const parsed = typeof body === 'string' ? parseJsonBody(Buffer.from(body)) : jsonBody(body);
  return cacheKeyOf(tenant, canonicalRequest({}, { dialect, body: parsed }));
}

describe(cacheKeyOf.name, () => {
  it.each<[string, object]>([
    ['stream', { stream: true }],
    ['stream_options', { stream: true, stream_options: { include_usage: true } }],
    ['user', { user: 'ann' }],
    ['metadata', { metadata: { a: 'b' } }],
    ['trace', { trace: { trace_name: 'x' } }],
    ['max_cost', { max_cost: 5, max_cost_mode: 'fit' }],
  ])('ignores %s', (_name, fields) => {
    expect(keyOf({ ...BODY, ...fields })).toBe(keyOf(BODY));
  });

  it('ignores white space, key order and escape sequences', () => {
    const one = '{"model":"a/b","stop":{"x":1,"y":["ä",{"b":2,"a":1}]}}';
    const other = '{ "stop" : {"y": ["\\u00e4", {"a":1, "b":2.0}], "x":1 },\n"model":"a\\/b" }';
    expect(keyOf(other)).toBe(keyOf(one));
  });

  it.each<[string, object]>([
    ['model', { model: 'a/c' }],
    ['models', { models: ['a/b', 'a/c'] }],
    ['provider', { provider: { only: ['a'] } }],
    ['route', { route: 'sort' }],
    ['messages', { messages: [{ role: 'user', content: 'Hi ' }] }],
    ['the role', { messages: [{ role: 'system', content: 'Hi' }] }],
    ['tools', { tools: [] }],
    ['max_tokens', { max_tokens: 5 }],
    ['max_completion_tokens', { max_completion_tokens: 5 }],
    ['temperature', { temperature: 0 }],
    ['top_p', { top_p: 0.5 }],
    ['stop', { stop: ['x'] }],
    ['seed', { seed: 1 }],
    ['n', { n: 2 }],
    ['tool_choice', { tool_choice: 'none' }],
    ['response_format', { response_format: { type: 'json_object' } }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 1: 2 } }],
    ['reasoning', { reasoning: { effort: 'low' } }],
    ['an unknown field', { later: 1 }],
  ])('depends on %s', (_name, fields) => {
    expect(keyOf({ ...BODY, ...fields })).not.toBe(keyOf(BODY));
  });

  it('depends on the tenant and the dialect', () => {
    const keys = (['chat', 'messages', 'responses'] as const).flatMap((dialect) =>
      ['one', 'two'].map((tenant) => keyOf(BODY, dialect, tenant)),
    );
    expect(new Set(keys).size).toBe(6);
  });

  it('distinguishes a string from a value that looks like it', () => {
    const contents = ['1', 1, ['1'], { 0: '1' }, null, true, 'true'];
    expect(new Set(contents.map((x) => keyOf({ x }))).size).toBe(contents.length);
    expect(keyOf({ a: 'x', b: 'y' })).not.toBe(keyOf({ a: 'x"b"y' }));
  });

  it('distinguishes numbers that only a vendor can tell apart', () => {
    const keys = ['9007199254740993', '9007199254740992', '1e400', '2e400'].map((seed) =>
      keyOf(`{"model":"a/b","seed":${seed}}`),
    );
    expect(new Set(keys).size).toBe(4);
  });

  it('keys embeddings by input and options', () => {
    const keyOfInput = (fields: object): string =>
      cacheKeyOf('tenant', embeddingRequest({ input: 'Hi', ...fields }));
    expect(keyOfInput({ user: 'ann' })).toBe(keyOfInput({}));
    const fields = [{}, { input: ['Hi'] }, { encoding_format: 'base64' }, { dimensions: 8 }];
    expect(new Set(fields.map(keyOfInput)).size).toBe(4);
  });
});
