import { RE2JS } from 're2js';

/** A tenant's pattern, in the syntax of RE2. */
export interface TenantPattern {
  pattern: string;
  /** Any of `i`, `m` and `s`. */
  flags: string;
  /** What it costs: the instructions of its program, or more where compiling takes long. */
  size: number;
}

const FLAGS: ReadonlyMap<string, number> = new Map([
  ['i', RE2JS.CASE_INSENSITIVE],
  ['m', RE2JS.MULTILINE],
  ['s', RE2JS.DOTALL],
]);

/** Whether the flags are among those that there are, each at most once. */
export function areFlags(flags: string): boolean {
  return flags.length === new Set(flags).size && [...flags].every((flag) => FLAGS.has(flag));
}

/** Only for patterns that have been measured; others may take half a second. */
export function compileTenantPattern({
  pattern,
  flags,
}: Pick<TenantPattern, 'pattern' | 'flags'>): RE2JS {
  const bits = [...flags].reduce((sum, flag) => sum | (FLAGS.get(flag) ?? 0), 0);
  return RE2JS.compile(pattern, bits);
}
