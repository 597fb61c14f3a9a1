import type { ApiKeyType } from './caller.js';

/** What `ApiKeyGuard` asks of a request; set with `@Authenticated`. */
export interface KeyRequirement {
  readonly keyType: ApiKeyType | 'any';
  /** Whether `x-api-key` is read besides `Authorization`. */
  readonly acceptsXApiKey: boolean;
}

/** Metadata key of a handler's or controller's KeyRequirement. */
export const KEY_REQUIREMENT = Symbol('KEY_REQUIREMENT');
