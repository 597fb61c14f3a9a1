/**
 * The words of this dialect that spell its vendor, all in one place: nothing else outside the
 * adapters may depend on them.
 */

/** Where the endpoint stands below `/v1` and `/api/v1`; the vendor's SDK appends `/v1/messages` to its base URL. */
export const MESSAGES_PATHS = [
  'messages',
  'anthropic/v1/messages',
  'anthropic/messages',
  'vendora/v1/messages',
  'vendora/messages',
] as const;

/** Base URLs that clients of this dialect are given; what is unknown below them is told in the dialect too. */
export const MESSAGES_BASES = ['messages', 'anthropic', 'vendora'] as const;

/** The maker of the seals that this dialect spells without a maker's name. */
export const NATIVE_MAKER = 'anthropic';

/** The header, and its twin in bodies for clouds that read no headers, that opens unreleased features. */
export const BETA_HEADER = 'anthropic-beta';
export const BETA_FIELD = 'anthropic_beta';

/** Headers that choose something within the vendor account. */
export const ACCOUNT_HEADERS = ['anthropic-workspace-id', 'anthropic-user-profile-id'] as const;

/**
 * Names that clients send by themselves and that are not missed: they say which client it is, or
 * belong to features that no longer need them. All others are refused, since most open something
 * with a price or a store of its own.
 */
export const HARMLESS_BETAS: ReadonlySet<string> = new Set([
  'claude-code-20250219',
  'fine-grained-tool-streaming-2025-05-14',
  'structured-outputs-2025-11-13',
  'structured-outputs-2025-12-15',
  'token-counting-2024-11-01',
]);
