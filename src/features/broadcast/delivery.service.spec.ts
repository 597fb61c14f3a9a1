import { describe, expect, it } from '@jest/globals';
import { readPartialSuccess } from './delivery.service.js';

describe(readPartialSuccess.name, () => {
  it.each([
    ['"3"', 3],
    ['3', 3],
  ])('reads %s rejected spans', (written, rejectedSpans) => {
    const answer = `{"partialSuccess":{"rejectedSpans":${written},"errorMessage":"too old"}}`;
    expect(readPartialSuccess(answer)).toEqual({
      rejectedSpans,
      reason: 'rejected 3 spans: too old',
    });
  });

  it.each([
    undefined,
    '',
    'ok',
    '{}',
    '[]',
    'null',
    '{"partialSuccess":{}}',
    '{"partialSuccess":null}',
    '{"partialSuccess":{"rejectedSpans":"0","errorMessage":"a warning"}}',
    '{"partialSuccess":{"rejectedSpans":-1}}',
    '{"partialSuccess":{"rejectedSpans":"many"}}',
    '{"partialSuccess":{"rejectedSp',
  ])('reads %j as a full success', (answer) => {
    expect(readPartialSuccess(answer)).toBeUndefined();
  });
});
