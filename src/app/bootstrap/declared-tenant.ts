import type { ApiKeyType } from '../../core/access/caller.js';

/** A tenant that the operator wants to exist. */
export interface DeclaredTenant {
  name: string;
  /** Granted once, when the tenant is made. */
  credits: number;
  keys: DeclaredKey[];
}

export interface DeclaredKey {
  type: ApiKeyType;
  plaintext: string;
  name: string;
  rateLimitPerMinute: number;
  /** Where the operator declared it, for messages: a variable, or a path into the file. */
  source: string;
}
