/** No answer of any model comes near; a larger count is a broken one. */
const MAX_TOKENS = 1_000_000_000;

/** A vendor's count of tokens, or of what is billed like them; undefined for nonsense. */
export function readTokenCount(value: unknown): number | undefined {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS
    ? (value as number)
    : undefined;
}
