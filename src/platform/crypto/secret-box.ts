import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The first byte of every sealed text, so that a later form can be told from this one. */
const VERSION = 1;

/** A sealed text that was tampered with, cut, moved to another place, or sealed with another secret. */
export class UnsealError extends Error {
  constructor() {
    super('A sealed value cannot be opened with this GATEWAY_SECRET.');
    this.name = 'UnsealError';
  }
}

/**
 * Encrypts small values at rest with AES-256-GCM. Each purpose (`provider-credential`,
 * `destination-headers`) has a key of its own, derived from the service's secret; and a value is
 * bound to a context such as its row's id, so that it cannot be moved to another row.
 */
export class SecretBox {
  private readonly key: Buffer;

  constructor(secret: string, purpose: string) {
    this.key = Buffer.from(hkdfSync('sha256', secret, '', `model-gateway:${purpose}`, KEY_BYTES));
  }

  /** Bytes for a `bytea` column: version, nonce, tag, ciphertext. */
  seal(text: string, context: string): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.key, nonce).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws UnsealError */
  unseal(bytes: Buffer, context: string): string {
    const tagStart = 1 + NONCE_BYTES;
    const textStart = tagStart + TAG_BYTES;
    if (bytes[0] !== VERSION || bytes.length < textStart) throw new UnsealError();
    try {
      const decipher = createDecipheriv(ALGORITHM, this.key, bytes.subarray(1, tagStart), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(tagStart, textStart));
      return decipher.update(bytes.subarray(textStart), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new UnsealError();
    }
  }
}
