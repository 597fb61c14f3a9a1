import { describe, expect, it } from '@jest/globals';
import { EditedBeginning } from './response-edits.js';

const event = (type: string, number: number, response: string): string =>
  `{"type":"response.${type}","sequence_number":${number},"response":${response}}`;

describe(EditedBeginning.name, () => {
  it("repeats a remembered event with the new event's type and number", () => {
    const beginning = new EditedBeginning();
    expect(beginning.repeat(event('created', 0, '{"id":"a"}'))).toBeUndefined();
    beginning.remember(event('created', 0, '{"id":"a"}'), event('created', 0, '{"id":"b"}'));
    expect(beginning.repeat(event('in_progress', 1, '{"id":"a"}'))).toBe(
      `event: response.in_progress\ndata: ${event('in_progress', 1, '{"id":"b"}')}\n\n`,
    );
  });

  it.each([
    event('in_progress', 1, '{"id":"a","x":1}'),
    event('completed', 1, '{"id":"a"}'),
    event('in_progress', 1, '{"id":"a"}').replace(',"seq', ', "seq'),
  ])('returns undefined for %s', (other) => {
    const beginning = new EditedBeginning();
    beginning.remember(event('created', 0, '{"id":"a"}'), event('created', 0, '{"id":"b"}'));
    expect(beginning.repeat(other)).toBeUndefined();
  });

  it('forgets when the next beginning is formatted differently', () => {
    const beginning = new EditedBeginning();
    beginning.remember(event('queued', 0, '{"id":"a"}'), event('queued', 0, '{"id":"b"}'));
    beginning.remember('{"response":{"id":"a"}}', '{"response":{"id":"b"}}');
    expect(beginning.repeat(event('in_progress', 1, '{"id":"a"}'))).toBeUndefined();
  });
});
