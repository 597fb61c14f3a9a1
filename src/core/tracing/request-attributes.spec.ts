import { describe, expect, it } from '@jest/globals';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import { requestAttributes } from './request-attributes.js';

describe(requestAttributes.name, () => {
  it.each([
    [{}, undefined],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, 'json'],
    [{ response_format: { type: 'json_object' } }, 'json'],
    [{ response_format: { type: 'text' } }, 'text'],
    [{ response_format: null }, undefined],
    [{ text: { format: { type: 'json_schema' }, verbosity: 'low' } }, 'json'],
    [{ text: { verbosity: 'low' } }, undefined],
    [{ output_config: { format: { type: 'json_schema', schema: {} } } }, 'json'],
    [{ output_config: { effort: 'low' } }, undefined],
  ])('for %j set the output type to %s', (value, type) => {
    const request = {
      dialect: 'chat',
      body: { value },
      models: ['a/b'],
      stream: false,
      choices: 1,
    };
    const attributes = requestAttributes(request as unknown as CanonicalRequest);
    expect(attributes['gen_ai.output.type']).toBe(type);
  });
});
