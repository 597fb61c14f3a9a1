import { createHash } from 'node:crypto';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

export interface SignableRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  body?: Buffer;
}

/** Signs requests with AWS Signature Version 4. Derives the daily key once. */
export class AwsSigner {
  private readonly signer: SignatureV4;

  constructor(credentials: AwsCredentials, region: string, service: string) {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials;
    this.signer = new SignatureV4({
      service,
      region,
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) },
      sha256: Sha256,
    });
  }

  /** Returns the given headers and those that the signature adds. */
  async sign({ method, url, headers, body }: SignableRequest): Promise<Record<string, string>> {
    const signed = await this.signer.sign({
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: {
        ...headers,
        host: url.host,
        // Bodies may have megabytes of images, for which the signer's own hash is slow.
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      body,
    });
    return signed.headers;
  }
}
