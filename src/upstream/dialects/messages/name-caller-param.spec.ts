import { describe, expect, it } from '@jest/globals';
import type { Dialect } from '../../../canonical/canonical-request.js';
import { UpstreamError } from '../../upstream-error.js';
import { nameCallerParam } from './name-caller-param.js';

const name = (param: string | undefined, dialect: Dialect) =>
  nameCallerParam(
    new UpstreamError({ failure: 'caller', message: 'x', status: 400, ...(param && { param }) }),
    dialect,
  );

describe(nameCallerParam.name, () => {
  it.each<[string, Dialect, string]>([
    ['messages.0.content.1', 'chat', 'messages'],
    ['system.0', 'chat', 'messages'],
    ['stop_sequences.0', 'chat', 'stop'],
    ['metadata.user_id', 'chat', 'user'],
    ['thinking.budget_tokens', 'chat', 'reasoning'],
    ['output_config.effort', 'chat', 'reasoning'],
    ['output_config.format.schema', 'responses', 'text.format'],
    ['tool_choice.name', 'chat', 'tool_choice'],
    ['tools.0.name', 'chat', 'tools'],
    ['max_tokens', 'chat', 'max_tokens'],
    ['max_tokens', 'responses', 'max_output_tokens'],
    ['messages.0.content.1', 'messages', 'messages.0.content.1'],
  ])('calls %s in %s %s', (param, dialect, expected) => {
    const error = name(param, dialect);
    expect(error).toMatchObject({ failure: 'caller', status: 400, message: 'x', param: expected });
  });

  it('leaves alone what names no field', () => {
    expect(name(undefined, 'chat').param).toBeUndefined();
  });
});
