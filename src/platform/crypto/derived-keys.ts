import { hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/** The service's secrets, the current one first and those of before behind it; asked at each use. */
export type SecretSource = string | (() => readonly string[]);

export function secretsOf(source: SecretSource): readonly string[] {
  return typeof source === 'string' ? [source] : source();
}

/** The keys of one purpose, one for each of the service's secrets, derived when first needed. */
export class DerivedKeys {
  private readonly bySecret = new Map<string, Buffer>();

  constructor(
    private readonly source: SecretSource,
    private readonly purpose: string,
  ) {}

  /** For what is written or signed now. */
  get current(): Buffer {
    return this.all[0]!;
  }

  /** The current one first; those behind it only read and verify. */
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
