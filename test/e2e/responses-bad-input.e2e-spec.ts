import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootGateway, type BootedGateway } from '../support/boot-gateway.js';
import { Refusals, refusalSettings } from '../support/refusals.js';

const PATH = '/v1/responses';

/** Fields added to a valid request, and the field that the refusal names. */
const BAD: [object, string][] = [
  [{ model: undefined }, 'model'],
  [{ model: 'echo' }, 'model'],
  [{ model: 7 }, 'model'],
  [{ models: ['sandbox/echo', 'x'] }, 'models.1'],
  [{ input: undefined }, 'input'],
  [{ input: null }, 'input'],
  [{ input: [] }, 'input'],
  [{ input: 7 }, 'input'],
  [{ input: ['x'] }, 'input.0'],
  [{ input: [{}] }, 'input.0.role'],
  [{ input: [{ role: 'tool', content: 'x' }] }, 'input.0.role'],
  [{ input: [{ role: 'user' }] }, 'input.0.content'],
  [{ input: [{ role: 'user', content: [7] }] }, 'input.0.content.0'],
  [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input.0.content.0.text'],
  [{ input: [{ role: 'user', content: [{}] }] }, 'input.0.content.0.type'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image' }] }] },
    'input.0.content.0.image_url',
  ],
  [{ input: [{ role: 'user', content: [{ type: 'input_file' }] }] }, 'input.0.content.0.file_data'],
  [
    {
      input: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA' } }] }],
    },
    'input.0.content.0.input_audio.format',
  ],
  [
    { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
    'input.0.content.0.file_id',
  ],
  [{ input: [{ type: 7 }] }, 'input.0.type'],
  [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'input.0.call_id'],
  [{ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }, 'input.0.arguments'],
  [{ input: [{ type: 'function_call_output', call_id: 'c' }] }, 'input.0.output'],
  [{ input: [{ type: 'function_call_output', call_id: 'c', output: [7] }] }, 'input.0.output.0'],
  [{ input: [{ type: 'reasoning', summary: [{}] }] }, 'input.0.summary.0.text'],
  [{ input: [{ type: 'reasoning', encrypted_content: 7 }] }, 'input.0.encrypted_content'],
  [{ input: [{ type: 'item_reference' }] }, 'input.0.id'],
  [{ instructions: 7 }, 'instructions'],
  [{ stream: 'yes' }, 'stream'],
  [{ store: 'no' }, 'store'],
  [{ metadata: 'x' }, 'metadata'],
  [{ metadata: { n: 1 } }, 'metadata.n'],
  [{ metadata: { long: 'v'.repeat(513) } }, 'metadata.long'],
  [{ metadata: { ['k'.repeat(65)]: 'v' } }, 'metadata'],
  [
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`k${n}`, 'v'])) },
    'metadata',
  ],
  [{ max_output_tokens: 0 }, 'max_output_tokens'],
  [{ max_output_tokens: 1.5 }, 'max_output_tokens'],
  [{ temperature: 'hot' }, 'temperature'],
  [{ top_logprobs: 21 }, 'top_logprobs'],
  [{ include: 'x' }, 'include'],
  [{ tools: [{}] }, 'tools.0.type'],
  [{ tools: [{ type: 'function' }] }, 'tools.0.name'],
  [{ tools: [{ type: 'code_interpreter' }] }, 'tools.0.type'],
  [{ tools: [{ type: 'namespace' }] }, 'tools.0.name'],
  [{ tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }, 'tools.0.type'],
  [{ tools: [{ type: 'tool_search' }] }, 'tools.0.type'],
  [{ max_tool_calls: -1 }, 'max_tool_calls'],
  [{ tool_choice: 7 }, 'tool_choice'],
  [{ tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
  [{ text: { format: { type: 'xml' } } }, 'text.format.type'],
  [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  [{ text: { format: { type: 'text' } }, response_format: { type: 'text' } }, 'response_format'],
  [{ reasoning: 'high' }, 'reasoning'],
  [{ background: 'yes' }, 'background'],
  [{ background: true, store: false }, 'store'],
  [{ background: true, stream: true }, 'stream'],
  [{ conversation: 7 }, 'conversation'],
  [{ conversation: 'conv_1', previous_response_id: 'resp_1' }, 'conversation'],
  [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
  [{ service_tier: 'priority' }, 'service_tier'],
  [{ route: 'random' }, 'route'],
  [{ provider: { only: 'sandbox' } }, 'provider.only'],
  [{ previous_response_id: 7 }, 'previous_response_id'],
];

describe('POST /v1/responses with bad bodies', () => {
  let gateway: BootedGateway;
  let refusals: Refusals;

  beforeAll(async () => {
    gateway = await bootGateway(refusalSettings);
    refusals = new Refusals(gateway);
  });
  afterAll(async () => {
    await gateway.close();
  });

  it.each(BAD)('rejects %j, naming %s', async (fields, param) => {
    const body = { model: 'sandbox/echo', input: 'Hello', ...fields };
    await refusals.expectRefused(() => gateway.post(PATH, body), 400, param);
  });

  it.each([
    ['/v1/responses/resp_x?stream=true', 'stream'],
    ['/v1/responses/resp_x/input_items?limit=0', 'limit'],
    ['/v1/responses/resp_x/input_items?limit=101', 'limit'],
    ['/v1/responses/resp_x/input_items?order=up', 'order'],
    ['/v1/responses/resp_x/input_items?page=1', 'page'],
  ])('rejects GET %s, naming %s', async (path, param) => {
    await refusals.expectRefused(() => gateway.fetch(path), 400, param);
  });

  it('accepts unknown fields, and null for unset ones', async () => {
    const nothing = Object.fromEntries(
      ['instructions', 'tools', 'text', 'reasoning', 'metadata', 'store', 'conversation'].map(
        (name) => [name, null],
      ),
    );
    const body = { model: 'sandbox/echo', input: 'Hello', ...nothing, novelty: { deep: [1] } };
    const answer = await gateway.post(PATH, body);
    expect(answer.status).toBe(200);
    refusals.goodIds.push(answer.headers.get('x-request-id')!);
  });

  it('leaves no trace of them', async () => {
    await refusals.expectNoTrace();
    const { rows } = await gateway.database.query('SELECT status FROM stored_responses');
    expect(rows).toEqual([{ status: 'completed' }]);
  });
});
