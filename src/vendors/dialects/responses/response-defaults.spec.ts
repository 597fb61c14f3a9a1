import { describe, expect, it } from '@jest/globals';
import { missingMembers, relayDefaults, responseDefaults } from './response-defaults.js';

const TOOL = { type: 'function', name: 'f' };

describe(responseDefaults.name, () => {
  it('has a value for everything that was not requested', () => {
    expect(responseDefaults({})).toEqual({
      previous_response_id: null,
      store: true,
      metadata: {},
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      parallel_tool_calls: true,
      reasoning: { effort: null, summary: null },
      temperature: 1,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      top_logprobs: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
      truncation: 'disabled',
      user: null,
      safety_identifier: null,
      prompt_cache_key: null,
      background: false,
      service_tier: 'default',
    });
  });

  it('repeats what was requested, and treats null as absent', () => {
    const asked = { temperature: 0, top_p: 0.5, top_logprobs: 3, max_tool_calls: 2, store: false };
    expect(responseDefaults({ ...asked, background: true })).toMatchObject({
      ...asked,
      background: true,
    });
    expect(responseDefaults({ temperature: null, tools: null, text: null })).toEqual(
      responseDefaults({}),
    );
  });

  it('shows every member of a function, and leaves other tools unchanged', () => {
    const custom = { type: 'custom', name: 'c' };
    const strict = { ...TOOL, description: 'd', parameters: {}, strict: true };
    expect(responseDefaults({ tools: [TOOL, custom, strict] }).tools).toEqual([
      { ...TOOL, description: null, parameters: null, strict: null },
      custom,
      strict,
    ]);
  });
});

describe(missingMembers.name, () => {
  const complete = {
    ...relayDefaults({ temperature: 0.3 }),
    status: 'completed',
    completed_at: 5,
    usage: null,
  };

  it('finds nothing in a complete response object', () => {
    expect(missingMembers(complete, relayDefaults({}))).toEqual({});
  });

  it.each([
    [
      { temperature: undefined, top_p: null },
      { temperature: 0.3, top_p: 1 },
    ],
    [
      { error: undefined, incomplete_details: undefined },
      { error: null, incomplete_details: null },
    ],
    [{ completed_at: undefined }, { completed_at: expect.any(Number) }],
    [{ status: 'incomplete', completed_at: undefined }, { completed_at: null }],
    [{ completed_at: null }, {}],
    [
      { tools: [TOOL] },
      { tools: [{ ...TOOL, description: null, parameters: null, strict: null }] },
    ],
    [
      { usage: { input_tokens: 1, output_tokens_details: { reasoning_tokens: 7 } } },
      {
        usage: {
          input_tokens: 1,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 7 },
        },
      },
    ],
  ])('completes %j', (fields, missing) => {
    const response = { ...complete, ...fields };
    expect(missingMembers(response, relayDefaults({ temperature: 0.3 }))).toEqual(missing);
  });
});
