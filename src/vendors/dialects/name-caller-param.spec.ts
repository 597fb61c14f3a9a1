import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../canonical/canonical-request.js';
import type { PromptField } from '../../canonical/prompt-field-table.js';
import { fieldName } from '../../canonical/prompt-fields.js';
import { UpstreamError } from '../upstream-error.js';
import { nameCallerParam } from './name-caller-param.js';

const name = (param: string | undefined, dialect: Dialect) =>
  nameCallerParam(
    new UpstreamError({ failure: 'caller', message: 'x', status: 400, ...(param && { param }) }),
    dialect,
  ) as UpstreamError;

describe(nameCallerParam.name, () => {
  it.each<[string, Dialect, string]>([
    ['messages.0.content.1', 'chat', 'messages'],
    ['messages.0.content.1', 'responses', 'input'],
    ['messages[0].content[1].text', 'messages', 'messages'],
    ['system.0', 'chat', 'messages'],
    ['system.0', 'responses', 'instructions'],
    ['stop_sequences.0', 'chat', 'stop'],
    ['stop[0]', 'messages', 'stop_sequences'],
    ['metadata.user_id', 'chat', 'user'],
    ['user', 'messages', 'metadata.user_id'],
    ['thinking.budget_tokens', 'chat', 'reasoning'],
    ['reasoning_effort', 'messages', 'thinking'],
    ['output_config.effort', 'chat', 'reasoning'],
    ['output_config.format.schema', 'responses', 'text.format'],
    ['response_format.json_schema', 'messages', 'output_config.format'],
    ['parallel_tool_calls', 'messages', 'tool_choice.disable_parallel_tool_use'],
    ['tool_choice.name', 'chat', 'tool_choice'],
    ['tools.0.name', 'chat', 'tools'],
    ['max_tokens', 'chat', 'max_tokens'],
    ['max_tokens', 'responses', 'max_output_tokens'],
    ['max_completion_tokens', 'messages', 'max_tokens'],
  ])('translates %s for %s into %s', (param, dialect, expected) => {
    const error = name(param, dialect);
    expect(error).toMatchObject({ failure: 'caller', status: 400, message: 'x', param: expected });
  });

  it.each<Dialect>(['chat', 'messages', 'responses'])('keeps the field names of %s', (dialect) => {
    const fields: PromptField[] = [
      'temperature',
      'topP',
      'topK',
      'stop',
      'toolChoice',
      'parallelToolCalls',
      'responseFormat',
      'reasoning',
      'endUser',
    ];
    const words = fields.map((field) => fieldName(dialect, field));
    expect(words.map((word) => name(word, dialect).param)).toEqual(words);
  });

  it('leaves other texts unchanged', () => {
    expect(name(undefined, 'chat').param).toBeUndefined();
  });
});
