export const API_KEY_TYPES = ['routing', 'management'] as const;
/** `routing` keys (`sk-…`) call models; `management` keys (`sk-mgmt-…`) run the account. */
export type ApiKeyType = (typeof API_KEY_TYPES)[number];

/** Who is asking: the tenant and the key that a request was authenticated with. */
export interface Caller {
  readonly tenantId: string;
  readonly apiKeyId: string;
  readonly keyType: ApiKeyType;
  /** Requests per minute window of this key. */
  readonly rateLimitPerMinute: number;
}
