import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { AwsSigner } from './aws-signer.js';

const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret' };
const request = {
  method: 'POST',
  url: new URL('https://example.com:8443/a%3Ab?x=1&y=%2F'),
  headers: { 'content-type': 'application/json', 'user-agent': 'gateway' },
  body: Buffer.from('{"a":1}'),
} as const;

const signedNames = (headers: Record<string, string>): string | undefined =>
  /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1];

describe(AwsSigner.name, () => {
  it('adds the required headers and keeps the others', async () => {
    const headers = await new AwsSigner(credentials, 'us-east-1', 'bedrock').sign(request);
    expect(headers).toMatchObject({
      ...request.headers,
      host: 'example.com:8443',
      'x-amz-date': expect.stringMatching(/^\d{8}T\d{6}Z$/),
      'x-amz-content-sha256': createHash('sha256').update(request.body).digest('hex'),
    });
    expect(signedNames(headers)).toBe('content-type;host;x-amz-content-sha256;x-amz-date');
    expect(request.headers).not.toHaveProperty('host');
  });

  it('signs the session token when there is one', async () => {
    const temporary = { ...credentials, sessionToken: 'token' };
    const headers = await new AwsSigner(temporary, 'us-east-1', 'bedrock').sign(request);
    expect(headers['x-amz-security-token']).toBe('token');
    expect(signedNames(headers)).toContain('x-amz-security-token');
  });

  it('signs a request without a body', async () => {
    const { url } = request;
    const headers = await new AwsSigner(credentials, 'us-east-1', 'bedrock').sign({
      method: 'GET',
      url,
      headers: {},
    });
    expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').digest('hex'));
  });
});
