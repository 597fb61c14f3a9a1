import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { DerivedKeys, type SecretSource } from '../../../platform/crypto/secret-box.js';
import { isArtifactId } from './artifact-store.js';

/** Path prefix of artifact URLs. */
const ARTIFACTS_PATH = '/v1/artifacts';

/**
 * Signs URLs that read an artifact without a key. The signing key is derived from the service's
 * secret, and URLs are generated on each read, so none are stored. Signatures of previous secrets
 * stay valid while those secrets are configured.
 */
@Injectable()
export class ArtifactUrls {
  private readonly keys: DerivedKeys;

  /** @param baseUrl returns the public base URL without a trailing slash */
  constructor(
    secrets: SecretSource,
    private readonly baseUrl: () => string,
  ) {
    this.keys = new DerivedKeys(secrets, 'artifact-url');
  }

  /** Returns an absolute URL. The same artifact and expiry give the same URL. */
  sign(artifactId: string, expiresAt: Date): string {
    const expires = Math.floor(expiresAt.getTime() / 1000);
    const signature = signatureOf(this.keys.current, artifactId, String(expires)).toString(
      'base64url',
    );
    const query = `expires=${expires}&signature=${signature}`;
    return `${this.baseUrl()}${ARTIFACTS_PATH}/${artifactId}?${query}`;
  }

  /**
   * Returns whether the signature matches this artifact and expiry. Does not check that the expiry
   * is in the future.
   */
  verify(artifactId: string, expires: string, signature: string): boolean {
    // Neither part may contain the separator of the signed text.
    if (!isArtifactId(artifactId) || !/^\d{1,15}$/.test(expires)) return false;
    const given = Buffer.from(signature, 'base64url');
    // Node's decoder skips invalid characters, so accept only the canonical encoding.
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
