import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { Refusals, refusalSettings, USER } from '../support/refusals.js';

describe('a bad field of a chat completion', () => {
  let gateway: BootedGateway;
  let refusals: Refusals;

  beforeAll(async () => {
    gateway = await bootGateway(refusalSettings);
    refusals = new Refusals(gateway);
  });
  afterAll(async () => {
    await gateway.close();
  });

  describe('a field of the wrong type', () => {
    const message = (fields: object): object => ({ messages: [USER, { role: 'user', ...fields }] });
    it.each<[string, object]>([
      ['model', { model: 5 }],
      ['model', { model: {} }],
      ['model', { model: ['sandbox/echo'] }],
      ['model', { model: true }],
      ['model', { model: `sandbox/${'x'.repeat(256)}` }],
      ['models', { models: 'sandbox/echo' }],
      ['models', { models: { 0: 'sandbox/echo' } }],
      ['models.0', { models: [5] }],
      ['models.0', { models: [''] }],
      ['models.1', { models: ['sandbox/words', null] }],
      ['messages', { messages: 'Hello' }],
      ['messages', { messages: USER }],
      ['messages', { messages: 5 }],
      ['messages.0', { messages: ['Hello'] }],
      ['messages.0', { messages: [null] }],
      ['messages.0', { messages: [[USER]] }],
      ['messages.1.role', { messages: [USER, { content: 'x' }] }],
      ['messages.1.role', message({ role: 'wizard', content: 'x' })],
      ['messages.1.role', message({ role: null, content: 'x' })],
      ['messages.1.content', message({})],
      ['messages.1.content', message({ content: null })],
      ['messages.1.content', message({ content: 5 })],
      ['messages.1.content', message({ content: { type: 'text', text: 'x' } })],
      ['messages.1.content.0', message({ content: ['x'] })],
      ['messages.1.content.0', message({ content: [null] })],
      ['messages.1.content.0.type', message({ content: [{}] })],
      ['messages.1.content.0.type', message({ content: [{ type: 5 }] })],
      ['messages.1.content.0.text', message({ content: [{ type: 'text' }] })],
      ['messages.1.content.0.text', message({ content: [{ type: 'text', text: ['x'] }] })],
      ['messages.1.content.0.image_url.url', message({ content: [{ type: 'image_url' }] })],
      [
        'messages.1.content.0.input_audio.data',
        message({ content: [{ type: 'input_audio', input_audio: { format: 'wav' } }] }),
      ],
      ['messages.1.name', message({ content: 'x', name: 5 })],
      ['messages.1.tool_call_id', message({ role: 'tool', content: 'x' })],
      ['messages.1.tool_call_id', message({ role: 'tool', content: 'x', tool_call_id: 5 })],
      ['messages.1.tool_calls', message({ role: 'assistant', tool_calls: {} })],
      ['messages.1.tool_calls.0', message({ role: 'assistant', tool_calls: ['x'] })],
      ['messages.1.tool_calls.0.id', message({ role: 'assistant', tool_calls: [{}] })],
      [
        'messages.1.tool_calls.0.function.name',
        message({ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }),
      ],
      [
        'messages.1.tool_calls.0.function.arguments',
        message({ role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f' } }] }),
      ],
      ['input', { messages: undefined, input: 5 }],
      ['input', { messages: undefined, input: {} }],
      ['input', { messages: undefined, input: [] }],
      ['input.0', { messages: undefined, input: ['x'] }],
      ['input.0.role', { messages: undefined, input: [{}] }],
      ['input.0.type', { messages: undefined, input: [{ type: 5 }] }],
      ['input.0.content', { messages: undefined, input: [{ role: 'user' }] }],
      ['input.0.content.0', { messages: undefined, input: [{ role: 'user', content: [5] }] }],
      ['input.0.call_id', { messages: undefined, input: [{ type: 'function_call' }] }],
      ['stream', { stream: 'true' }],
      ['stream', { stream: 1 }],
      ['temperature', { temperature: '1' }],
      ['temperature', { temperature: [1] }],
      ['max_tokens', { max_tokens: '10' }],
      ['max_tokens', { max_tokens: 1.5 }],
      ['max_tokens', { max_tokens: 0 }],
      ['max_tokens', { max_tokens: -1 }],
      ['max_tokens', { max_tokens: 1e15 }],
      ['max_completion_tokens', { max_completion_tokens: {} }],
      ['max_completion_tokens', { max_completion_tokens: 0 }],
      ['top_p', { top_p: '1' }],
      ['n', { n: 0 }],
      ['n', { n: 1.5 }],
      ['n', { n: 1_000_000 }],
      ['tools', { tools: {} }],
      ['tools', { tools: 'search' }],
      ['tools.0', { tools: ['search'] }],
      ['tools.0.type', { tools: [{}] }],
      ['tools.0.type', { tools: [{ type: 5 }] }],
      ['tools.0.function', { tools: [{ type: 'function', function: 'f' }] }],
      ['tools.0.function.name', { tools: [{ type: 'function', function: {} }] }],
      ['tools.0.function.name', { tools: [{ type: 'function', function: { name: '' } }] }],
      [
        'tools.0.function.parameters',
        { tools: [{ type: 'function', function: { name: 'f', parameters: 'x' } }] },
      ],
      ['tool_choice', { tool_choice: 5 }],
      ['tool_choice', { tool_choice: [] }],
      ['parallel_tool_calls', { parallel_tool_calls: 'yes' }],
      ['response_format', { response_format: 'json_object' }],
      ['response_format.type', { response_format: {} }],
      ['response_format.json_schema', { response_format: { type: 'json_schema', json_schema: 5 } }],
      ['reasoning', { reasoning: 'high' }],
      ['reasoning.effort', { reasoning: { effort: 5 } }],
      ['reasoning.max_tokens', { reasoning: { max_tokens: -1 } }],
      ['reasoning_effort', { reasoning_effort: 5 }],
      ['logprobs', { logprobs: 'true' }],
      ['logprobs', { logprobs: 3 }],
      ['top_logprobs', { top_logprobs: 1.5 }],
      ['top_logprobs', { top_logprobs: 21 }],
      ['logit_bias', { logit_bias: [] }],
      ['logit_bias.50256', { logit_bias: { 50256: 'x' } }],
      ['stream_options', { stream_options: true }],
      ['stream_options.include_usage', { stream_options: { include_usage: 'yes' } }],
      ['stop', { stop: 5 }],
      ['stop', { stop: {} }],
      ['stop.1', { stop: ['a', 5] }],
      ['frequency_penalty', { frequency_penalty: '1' }],
      ['presence_penalty', { presence_penalty: true }],
      ['seed', { seed: 1.5 }],
      ['seed', { seed: '7' }],
      ['user', { user: 5 }],
      ['user', { user: { id: 'x' } }],
      ['metadata', { metadata: [] }],
      ['trace', { trace: 'x' }],
      ['provider', { provider: 'openai' }],
      ['provider.order', { provider: { order: 'openai' } }],
      ['provider.order.0', { provider: { order: [5] } }],
      ['provider.only', { provider: { only: {} } }],
      ['provider.ignore.0', { provider: { ignore: [null] } }],
      ['provider.allow_fallbacks', { provider: { allow_fallbacks: 'no' } }],
      ['provider.sort', { provider: { sort: 'beauty' } }],
      ['provider.sort', { provider: { sort: ['price'] } }],
      ['provider.sort.by', { provider: { sort: { by: 'beauty' } } }],
      ['provider.sort.partition', { provider: { sort: { by: 'price', partition: 'x' } } }],
      ['provider.max_price', { provider: { max_price: 5 } }],
      ['provider.max_price.audio', { provider: { max_price: { audio: 5 } } }],
      ['provider.max_price.prompt', { provider: { max_price: { prompt: -1 } } }],
      ['provider.max_price.prompt', { provider: { max_price: { prompt: true } } }],
      ['provider.max_price.prompt', { provider: { max_price: { prompt: '1e3' } } }],
      ['provider.max_price.completion', { provider: { max_price: { completion: 1e9 } } }],
      ['provider.max_price.image', { provider: { max_price: { image: '' } } }],
      ['route', { route: 'fastest' }],
      ['route', { route: 5 }],
    ])('is a 400 that names it: %s in %j', async (param, fields) => {
      await refusals.expectRefused(() => refusals.chat(fields), 400, param);
    });

    it('is a 400 for a JSON number out of range, too', async () => {
      const body = `{"model":"sandbox/echo","messages":[${JSON.stringify(USER)}],"temperature":1e999}`;
      await refusals.expectRefused(() => refusals.raw(body), 400, 'temperature');
    });
  });

  describe('fields that exclude each other', () => {
    it.each<[string, string, object]>([
      ['an alias without a slash', 'model', { model: 'gpt-4o' }],
      ['an alias that begins with a slash', 'model', { model: '/echo' }],
      ['an alias that ends with a slash', 'model', { model: 'sandbox/' }],
      ['an empty alias', 'model', { model: '' }],
      ['a fallback without a slash', 'models.1', { models: ['sandbox/words', 'gpt-4o'] }],
      ['neither model nor models', 'model', { model: undefined }],
      ['no model and an empty list', 'model', { model: undefined, models: [] }],
      ['nulls for both', 'model', { model: null, models: null }],
      ['no messages in the list', 'messages', { messages: [] }],
      ['neither messages nor input', 'messages', { messages: undefined }],
      ['both messages and input', 'input', { input: 'Hello' }],
      ['a model only on the prototype', 'model', { model: undefined, constructor: 'a/b' }],
    ])('%s: 400', async (_name, param, fields) => {
      await refusals.expectRefused(() => refusals.chat(fields), 400, param);
    });

    it('an unknown model, alone or as a fallback: 404', async () => {
      await refusals.expectRefused(
        () => refusals.chat({ model: 'a/b' }),
        404,
        'model',
        'not_found_error',
      );
      await refusals.expectRefused(
        () => refusals.chat({ models: ['a/b'] }),
        404,
        'models',
        'not_found_error',
      );
      await refusals.expectRefused(
        () => refusals.chat({ model: '__proto__/x' }),
        404,
        'model',
        'not_found_error',
      );
    });

    it('preferences that leave no provider: 404', async () => {
      const provider = { only: ['nobody'] };
      await refusals.expectRefused(
        () => refusals.chat({ provider }),
        404,
        'provider',
        'not_found_error',
      );
    });

    it('fields in a __proto__ are ignored', async () => {
      const body = `{"__proto__":{"model":"sandbox/echo"},"messages":[${JSON.stringify(USER)}]}`;
      await refusals.expectRefused(() => refusals.raw(body), 400, 'model');
    });
  });

  it('leaves no trace', async () => {
    await refusals.expectNoTrace();
  });
});
