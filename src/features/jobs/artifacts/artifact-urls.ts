import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DerivedKeys, type SecretSource } from '../../../platform/crypto/secret-box.js';
import { isArtifactId } from './artifact-store.js';

/** The path below which artifacts are read. */
const ARTIFACTS_PATH = '/v1/artifacts';

/**
 * URLs under which an artifact can be read without a key. They are signed with a key derived from
 * the service's secret and made anew at each read, so that none is stored anywhere. Those signed
 * with a previous secret are good as long as the service is told that.
 */
@Injectable()
export class ArtifactUrls {
  private readonly keys: DerivedKeys;

  /** @param baseUrl gives the base of the URLs that the service gives out, without a trailing slash */
  constructor(
    secrets: SecretSource,
    private readonly baseUrl: () => string,
  ) {
    this.keys = new DerivedKeys(secrets, 'artifact-url');
  }

  /** An absolute URL. The same artifact and expiry give the same one. */
  sign(artifactId: string, expiresAt: Date): string {
    const expires = Math.floor(expiresAt.getTime() / 1000);
    const signature = signatureOf(this.keys.current, artifactId, String(expires)).toString(
      'base64url',
    );
    const query = `expires=${expires}&signature=${signature}`;
    return `${this.baseUrl()}${ARTIFACTS_PATH}/${artifactId}?${query}`;
  }

  /** Whether the signature is ours, for this artifact and this expiry, be it past or not. */
  verify(artifactId: string, expires: string, signature: string): boolean {
    // What separates the two within the signed text can stand in neither.
    if (!isArtifactId(artifactId) || !/^\d{1,15}$/.test(expires)) return false;
    const given = Buffer.from(signature, 'base64url');
    // Node's decoder skips foreign characters; only the one way to write a signature is taken.
    if (given.toString('base64url') !== signature) return false;
    return this.keys.all.some((key) => {
      const expected = signatureOf(key, artifactId, expires);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  }
}

function signatureOf(key: Buffer, artifactId: string, expires: string): Buffer {
  return createHmac('sha256', key).update(`${artifactId}\n${expires}`).digest();
}
