import { describe, expect, it } from '@jest/globals';
import { conversationOf, responsesRequest } from '../../../../test/support/responses-requests.js';
import type { Conversation } from '../../../features/responses/stored-responses.repository.js';
import { encodeResponsesRequest, fieldsResponsesLacks } from './encode-responses-request.js';

const encode = (fields: object, conversation?: Conversation): unknown =>
  JSON.parse(
    encodeResponsesRequest({
      request: responsesRequest(fields, conversation),
      upstreamModel: 'gpt',
    }).toString(),
  );

describe(encodeResponsesRequest.name, () => {
  it("sends the vendor's model, disables storing, and passes on the rest", () => {
    const rest = {
      instructions: 'Be kind.',
      temperature: 0.5,
      tools: [{ type: 'function', name: 'f' }],
      text: { verbosity: 'low' },
      novelty: { deep: [1] },
    };
    expect(encode(rest)).toEqual({ model: 'gpt', input: 'Hi', store: false, ...rest });
    expect(encode({ store: true })).toMatchObject({ store: false });
  });

  it("removes the gateway's own fields", () => {
    expect(
      encode({
        models: ['c/d'],
        provider: { order: [] },
        route: 'sort',
        trace: {},
        transforms: [],
        plugins: [],
        usage: {},
        metadata: { a: 'b' },
        previous_response_id: 'resp_1',
        response_format: { type: 'json_object' },
      }),
    ).toEqual({
      model: 'gpt',
      input: 'Hi',
      store: false,
      text: { format: { type: 'json_object' } },
    });
  });

  it('sends the whole conversation, without ids that the vendor cannot look up', () => {
    const conversation = conversationOf(
      { type: 'message', id: 'msg_1', role: 'user', content: 'Hey' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'maker:signature' },
      { type: 'reasoning', id: 'rs_3', summary: [{ type: 'summary_text', text: 'x' }] },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'c'.repeat(65),
        name: 'f',
        arguments: '{}',
        encrypted_content: 'maker:signature',
      },
      { type: 'function_call_output', call_id: 'c'.repeat(65), output: 'x' },
      {
        type: 'custom_tool_call',
        id: 'ctc_1',
        status: 'completed',
        call_id: 'd',
        name: 'g',
        input: 'x',
      },
      { type: 'novelty', id: 'n_1' },
    );
    const { input } = encode({ previous_response_id: 'resp_1' }, conversation) as {
      input: Record<string, unknown>[];
    };
    const callId = expect.stringMatching(/^call_[\w-]{32}$/);
    expect(input).toEqual([
      { type: 'message', role: 'user', content: 'Hey' },
      { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
      { type: 'function_call', call_id: callId, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: callId, output: 'x' },
      { type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'x' },
      { type: 'novelty', id: 'n_1' },
      { type: 'message', role: 'user', content: 'Hi' },
    ]);
    expect(input[2]!.call_id).toBe(input[3]!.call_id);
  });

  it('leaves input that needs no change byte for byte', () => {
    const spelled = '[ {"role": "user",  "content": "Hi \\u00e4"} ]';
    const request = responsesRequest();
    const bytes = Buffer.from(`{"input":${spelled},"model":"a/b"}`);
    const body = { ...request.body, bytes, value: { ...request.body.value, input: [] } };
    const members = [
      { key: 'input', keyStart: 1, valueStart: 9, valueEnd: 9 + spelled.length },
      {
        key: 'model',
        keyStart: 10 + spelled.length,
        valueStart: 18 + spelled.length,
        valueEnd: 23 + spelled.length,
      },
    ];
    const encoded = encodeResponsesRequest({
      request: { ...request, body: { ...body, members } },
      upstreamModel: 'gpt',
    });
    expect(encoded.toString()).toBe(`{"input":${spelled},"model":"gpt","store":false}`);
  });

  it('requests encrypted reasoning for callers who store nothing and set reasoning', () => {
    const include = ['reasoning.encrypted_content'];
    expect(encode({ reasoning: { effort: 'low' } })).toMatchObject({ include });
    expect(encode({ reasoning: {}, include })).toMatchObject({ include });
    expect(encode({ reasoning: { effort: 'low' }, store: false })).not.toHaveProperty('include');
    expect(encode({ reasoning: { effort: null } })).not.toHaveProperty('include');
    expect(encode({ reasoning: {} })).not.toHaveProperty('include');
    expect(encode({})).not.toHaveProperty('include');
  });

  it('removes and reports unsupported members of reasoning', () => {
    const fields = { store: false, reasoning: { effort: 'low', max_tokens: 5, enabled: true } };
    expect(encode(fields)).toMatchObject({ reasoning: { effort: 'low' } });
    expect(fieldsResponsesLacks(responsesRequest(fields))).toEqual([
      'reasoning.max_tokens',
      'reasoning.enabled',
    ]);
    expect(fieldsResponsesLacks(responsesRequest())).toEqual([]);
  });

  it.each([{}, { max_output_tokens: null }])("sends the gateway's own limit: %j", (fields) => {
    const call = { request: responsesRequest(fields), upstreamModel: 'm', ownOutputLimit: 4_096 };
    expect(JSON.parse(encodeResponsesRequest(call).toString())).toMatchObject({
      max_output_tokens: 4_096,
    });
  });
});
