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

/** The maker of the signatures that this dialect spells without a maker's name. */
export const NATIVE_MAKER = 'anthropic';

/** The header, and its twin in bodies for clouds that read no headers, that opens unreleased features. */
export const BETA_HEADER = 'anthropic-beta';
export const BETA_FIELD = 'anthropic_beta';

/** Headers that choose something within the vendor account. */
export const ACCOUNT_HEADERS = ['anthropic-workspace-id', 'anthropic-user-profile-id'] as const;

/** The date at the end of a beta's name; what stands before it is its family. */
export const BETA_DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Families of betas that go out over shared capacity: they say which client it is, or what they open
 * is free, or is counted in tokens and calls that have a price. What they allow in a body is
 * looked at there.
 */
export const PRICED_BETAS: ReadonlySet<string> = new Set([
  ...['claude-code', 'oauth', 'prompt-caching', 'prompt-caching-scope', 'extended-cache-ttl'],
  ...[
    'interleaved-thinking',
    'redact-thinking',
    'thinking-token-count',
    'thinking-display-updates',
  ],
  ...['effort', 'task-budgets', 'output-128k', 'model-context-window-exceeded'],
  ...['context-management', 'pdfs', 'structured-outputs', 'token-counting', 'message-batches'],
  ...['token-efficient-tools', 'fine-grained-tool-streaming', 'advanced-tool-use', 'computer-use'],
  ...['tool-search-tool', 'tool-examples', 'web-search'],
]);

/** Families that shared capacity refuses, by what they open. */
export const UNPRICED_BETAS: ReadonlyMap<string, string> = new Map([
  ...['files-api', 'skills', 'agent-memory', 'managed-agents', 'user-profiles'].map(
    (family) => [family, 'what it opens is kept in a vendor account'] as const,
  ),
  ...['code-execution', 'mcp-client', 'mcp-tunnels', 'fast-mode', 'server-side-fallback'].map(
    (family) => [family, 'what it opens is billed at prices of its own'] as const,
  ),
  ...['fallback-credit', 'compact'].map(
    (family) => [family, 'what it opens is billed apart from the answer'] as const,
  ),
]);

/** Opens prompts longer than usual, up to so many tokens. */
export const LONG_CONTEXT_BETA = { family: 'context-1m', tokens: 1_000_000 } as const;
