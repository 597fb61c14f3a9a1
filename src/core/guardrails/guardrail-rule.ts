import { RE2JS } from 're2js';

const FLAGS: ReadonlyMap<string, number> = new Map([
  ['i', RE2JS.CASE_INSENSITIVE],
  ['m', RE2JS.MULTILINE],
  ['s', RE2JS.DOTALL],
]);

export const GUARDRAIL_ACTIONS = ['block', 'log', 'flag'] as const;
/** Effect of a match: block the request or answer, log it, or log it and flag it to the caller. */
export type GuardrailAction = (typeof GUARDRAIL_ACTIONS)[number];

export const GUARDRAIL_DIRECTIONS = ['input', 'output'] as const;
/** The texts to check: the prompt or the answer. */
export type GuardrailDirection = (typeof GUARDRAIL_DIRECTIONS)[number];

export const PERSONAL_DATA = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip'] as const;
export type PersonalData = (typeof PERSONAL_DATA)[number];

/** A rule in the public API's shape. */
export type GuardrailRule =
  | { type: 'regex'; pattern: string; flags?: string }
  | { type: 'keyword'; words: string[] }
  | { type: 'pii'; entities: PersonalData[] }
  | { type: 'secret' }
  | { type: 'max_length'; max: number };

export const RULE_TYPES = ['regex', 'keyword', 'pii', 'secret', 'max_length'] as const;

export const MAX_GUARDRAILS_PER_TENANT = 100;
export const MAX_RULES = 50;
export const MAX_PATTERN_LENGTH = 1_000;
export const MAX_WORDS = 1_000;
export const MAX_WORD_LENGTH = 200;
/**
 * Limit of a guardrail's patterns and words, each word counting at least ten, since they are kept
 * in memory.
 */
export const MAX_RULE_CHARACTERS = 100_000;
export const LEAST_CHARACTERS_OF_WORD = 10;
/** Limit of a tenant's rules, as stored. */
export const MAX_STORED_RULES_PER_TENANT = 1_000_000;
/** Larger than any body or answer. */
export const MAX_TEXT_LENGTH = 1_000_000_000;

/** A tenant's pattern in RE2 syntax. */
export interface TenantPattern {
  pattern: string;
  /** Any of `i`, `m` and `s`. */
  flags: string;
  /** Cost: instructions of the compiled program, or more for slow compilation. */
  size: number;
}

/** Returns whether all flags are valid and distinct. */
export function areFlags(flags: string): boolean {
  return flags.length === new Set(flags).size && [...flags].every((flag) => FLAGS.has(flag));
}

/** Compiles a pattern. Use only for measured ones; others may take half a second. */
export function compileTenantPattern({
  pattern,
  flags,
}: Pick<TenantPattern, 'pattern' | 'flags'>): RE2JS {
  const bits = [...flags].reduce((sum, flag) => sum | (FLAGS.get(flag) ?? 0), 0);
  return RE2JS.compile(pattern, bits);
}
