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
  /** Undefined when neither the key nor its tenant has a limit. */
  readonly spendLimits?: SpendLimitsOfCaller;
}

/** Credits that may be spent in a calendar month (UTC); null: no limit. */
export interface SpendLimitsOfCaller {
  readonly key: number | null;
  readonly tenant: number | null;
}
