import { describe, expect, it } from '@jest/globals';
import { FakeConnection } from '../../../test/support/fake-connection.js';
import { classifyInlineMessagesError } from './messages/classify-messages-error.js';
import { isUnstreamed, readUnstreamed } from './read-event-stream.js';

const read = (body: string) => {
  const connection = new FakeConnection().start().answer();
  connection.send(body).end();
  return readUnstreamed(connection.response, classifyInlineMessagesError);
};

describe(isUnstreamed.name, () => {
  it.each([
    ['application/json', true],
    ['Application/JSON; charset=utf-8', true],
    ['text/event-stream', false],
    ['application/jsonl', false],
    ['text/html', false],
    [undefined, false],
  ])('%s: %p', (type, expected) => {
    expect(isUnstreamed({ headers: { 'content-type': type } })).toBe(expected);
  });
});

describe(readUnstreamed.name, () => {
  it.each([
    ['{"error":{"type":"rate_limit_error","message":"slow"}}', 'rate_limited'],
    ['[{"error":{"type":"invalid_request_error","message":"bad"}}]', 'caller'],
    ['{"choices":[]}', 'unreadable'],
    ['{"error":null}', 'unreadable'],
    ['"text"', 'unreadable'],
  ])('classifies %s as %s', async (body, failure) => {
    expect(await read(body)).toMatchObject({ failure });
  });

  it.each(['{"err', '', 'x'.repeat(300 * 1024)])('rejects %.9s', async (body) => {
    await expect(read(body)).rejects.toMatchObject({ failure: 'unreadable' });
  });
});
