/** Vendor-specific names in this dialect. No other code outside the adapters may depend on them. */

/** Paths of the endpoint below `/v1` and `/api/v1`. The vendor's SDK appends `/v1/messages` to its base URL. */
export const MESSAGES_PATHS = [
  'messages',
  'anthropic/v1/messages',
  'anthropic/messages',
  'vendora/v1/messages',
  'vendora/messages',
] as const;

/** Base URLs for clients of this dialect. Unknown paths below them also return errors in the dialect. */
export const MESSAGES_BASES = ['messages', 'anthropic', 'vendora'] as const;

/** The vendor whose signatures have no vendor prefix in this dialect. */
export const NATIVE_MAKER = 'anthropic';

/** Enables beta features. Clouds that ignore headers read the field in the body. */
export const BETA_HEADER = 'anthropic-beta';
export const BETA_FIELD = 'anthropic_beta';

/** Headers that select something in the vendor account. */
export const ACCOUNT_HEADERS = ['anthropic-workspace-id', 'anthropic-user-profile-id'] as const;

/** The date at the end of a beta's name; the name before it is the family. */
export const BETA_DATE = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/**
 * Families of betas that are sent over shared capacity: they identify the client, or their features
 * are free or billed in priced tokens and calls. Body fields are checked separately.
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

/** Families that shared capacity rejects, and why. */
export const UNPRICED_BETAS: ReadonlyMap<string, string> = new Map([
  ...['files-api', 'skills', 'agent-memory', 'managed-agents', 'user-profiles'].map(
    (family) => [family, 'its data is stored in a vendor account'] as const,
  ),
  ...['code-execution', 'mcp-client', 'mcp-tunnels', 'fast-mode', 'server-side-fallback'].map(
    (family) => [family, 'it is billed at other prices'] as const,
  ),
  ...['fallback-credit', 'compact'].map(
    (family) => [family, 'it is billed separately from the answer'] as const,
  ),
]);

/** Allows long prompts, up to this many tokens. */
export const LONG_CONTEXT_BETA = { family: 'context-1m', tokens: 1_000_000 } as const;
