import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { isArtifactId } from './artifact-store.js';

/** The path below which artifacts are read. */
const ARTIFACTS_PATH = '/v1/artifacts';

const KEY_BYTES = 32;

/**
 * URLs under which an artifact can be read without a key. They are signed with a key derived from
 * the service's secret and made anew at each read, so that none is stored anywhere.
 */
@Injectable()
export class ArtifactUrls {
  private readonly key: Buffer;

  /** @param baseUrl gives the base of the URLs that the service gives out, without a trailing slash */
  constructor(
    secret: string,
    private readonly baseUrl: () => string,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', secret, '', 'model-gateway:artifact-url', KEY_BYTES));
  }

  /** An absolute URL. The same artifact and expiry give the same one. */
  sign(artifactId: string, expiresAt: Date): string {
    const expires = Math.floor(expiresAt.getTime() / 1000);
    const signature = this.signatureOf(artifactId, String(expires)).toString('base64url');
    const query = `expires=${expires}&signature=${signature}`;
    return `${this.baseUrl()}${ARTIFACTS_PATH}/${artifactId}?${query}`;
  }

  /** Whether the signature is ours, for this artifact and this expiry, be it past or not. */
  verify(artifactId: string, expires: string, signature: string): boolean {
    // What separates the two within the signed text can stand in neither.
    if (!isArtifactId(artifactId) || !/^\d{1,15}$/.test(expires)) return false;
    const given = Buffer.from(signature, 'base64url');
    const expected = this.signatureOf(artifactId, expires);
    // Node's decoder skips foreign characters; only the one way to write a signature is taken.
    if (given.toString('base64url') !== signature || given.length !== expected.length) return false;
    return timingSafeEqual(given, expected);
  }

  private signatureOf(artifactId: string, expires: string): Buffer {
    return createHmac('sha256', this.key).update(`${artifactId}\n${expires}`).digest();
  }
}
