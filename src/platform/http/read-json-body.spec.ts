import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { readJsonBody } from './read-json-body.js';

function requestWith(contentType: string | undefined, body = '{"a":1}'): IncomingMessage {
  const headers = contentType === undefined ? {} : { 'content-type': contentType };
  const request = Object.assign(new PassThrough(), { headers });
  request.end(body);
  return request as unknown as IncomingMessage;
}

describe(readJsonBody.name, () => {
  it.each([
    undefined,
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON ;charset=UTF-8',
    'application/vnd.api+json',
  ])('accepts content-type %j', async (contentType) => {
    expect((await readJsonBody(requestWith(contentType))).value).toEqual({ a: 1 });
  });

  it.each([
    '',
    'text/plain',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
  ])('rejects content-type %j', async (contentType) => {
    await expect(readJsonBody(requestWith(contentType))).rejects.toMatchObject({
      status: 415,
      param: 'content-type',
    });
  });

  it('rejects a body that is not a JSON object', async () => {
    await expect(readJsonBody(requestWith(undefined, ''))).rejects.toMatchObject({
      status: 400,
      param: 'body',
    });
  });
});
