/** A stored account of a tenant's own with a provider, as requests need it. Never changes. */
export class OwnCredential {
  readonly id: string;
  readonly provider: string;
  /** Whether shared capacity may serve when this account does not. */
  readonly allowSharedFallback: boolean;
  readonly settings: Readonly<Record<string, string>>;
  /** Private to the language, so that nothing that prints or serialises an object has it. */
  readonly #sealedKey: Buffer;

  constructor(fields: {
    id: string;
    provider: string;
    allowSharedFallback: boolean;
    settings: Record<string, string>;
    sealedKey: Buffer;
  }) {
    this.id = fields.id;
    this.provider = fields.provider;
    this.allowSharedFallback = fields.allowSharedFallback;
    this.settings = fields.settings;
    this.#sealedKey = fields.sealedKey;
  }

  /** The key as it is stored, sealed for the row's id. */
  sealedKey(): Buffer {
    return this.#sealedKey;
  }
}
