import { createCipheriv, createDecipheriv, randomBytes, hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;
const FINGERPRINT_BYTES = 8;

/** The keys of one purpose, one per service secret, derived on first use. */
export class DerivedKeys {
  private readonly bySecret = new Map<string, Buffer>();

  constructor(
    private readonly source: SecretSource,
    private readonly purpose: string,
  ) {}

  /** Encrypts and signs from now on. */
  get current(): Buffer {
    return this.all[0]!;
  }

  /** The current key first; earlier ones only read and verify. */
  get all(): Buffer[] {
    return secretsOf(this.source).map((secret) => this.keyOf(secret));
  }

  private keyOf(secret: string): Buffer {
    let key = this.bySecret.get(secret);
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', secret, '', `model-gateway:${this.purpose}`, KEY_BYTES));
      this.bySecret.set(secret, key);
    }
    return key;
  }
}

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The first byte of every encrypted text: the version of its format. */
const VERSION = 1;

/**
 * Encrypts with AES-256-GCM and binds the result to a context, such as the id of its row, so that it cannot be
 * moved elsewhere.
 *
 * @returns nonce, tag, ciphertext
 */
export function encryptBytes(key: Buffer, bytes: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(context));
  const encrypted = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
}

/** @throws Error for bytes that were not encrypted with this key and context */
export function decryptBytes(key: Buffer, bytes: Buffer, context: string): Buffer {
  const textStart = NONCE_BYTES + TAG_BYTES;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(NONCE_BYTES, textStart));
  return Buffer.concat([decipher.update(bytes.subarray(textStart)), decipher.final()]);
}

/** Thrown for a value that was changed, truncated, moved, or encrypted with another secret. */
export class DecryptionError extends Error {
  constructor() {
    super('An encrypted value cannot be opened with this GATEWAY_SECRET or a previous one.');
    this.name = 'DecryptionError';
  }
}

/**
 * Encrypts small values at rest. Each purpose (`provider-credential`, `destination-headers`) has its own key, derived
 * from the service's secret. The current secret encrypts; previous ones only decrypt.
 */
export class SecretBox {
  private readonly keys: DerivedKeys;

  constructor(secrets: SecretSource, purpose: string) {
    this.keys = new DerivedKeys(secrets, purpose);
  }

  /** Returns bytes for a `bytea` column: version, nonce, tag, ciphertext. */
  encrypt(text: string, context: string): Buffer {
    const encrypted = encryptBytes(this.keys.current, Buffer.from(text), context);
    return Buffer.concat([Buffer.of(VERSION), encrypted]);
  }

  /** @throws DecryptionError */
  decrypt(bytes: Buffer, context: string): string {
    for (const key of this.keys.all) {
      const text = open(bytes, context, key);
      if (text !== undefined) return text;
    }
    throw new DecryptionError();
  }

  /**
   * Returns the text encrypted with the current secret; undefined when it already is.
   *
   * @throws DecryptionError
   */
  renew(bytes: Buffer, context: string): Buffer | undefined {
    if (open(bytes, context, this.keys.current) !== undefined) return undefined;
    return this.encrypt(this.decrypt(bytes, context), context);
  }
}

/** Returns undefined for bytes that this key and context did not encrypt. */
function open(bytes: Buffer, context: string, key: Buffer): string | undefined {
  if (bytes[0] !== VERSION) return undefined;
  try {
    return decryptBytes(key, bytes.subarray(1), context).toString('utf8');
  } catch {
    return undefined;
  }
}

/**
 * Identifies a secret without revealing it: 16 hex digits, derived like the keys. The database stores the
 * fingerprint of the secret that encrypts its values.
 */
export function secretFingerprint(secret: string): string {
  const bytes = hkdfSync('sha256', secret, '', 'model-gateway:fingerprint', FINGERPRINT_BYTES);
  return Buffer.from(bytes).toString('hex');
}

/** The service's secrets, the current one first; read at each use. */
export type SecretSource = string | (() => readonly string[]);

export function secretsOf(source: SecretSource): readonly string[] {
  return typeof source === 'string' ? [source] : source();
}
