import { Transform } from 'class-transformer';

/**
 * Reads a query parameter's decimal digits as a number, ahead of `@IsInt()` and its kin. Anything
 * else stays the text it is, and so is no integer to them: unlike `Number()`, which takes an empty
 * value for 0 and `1e3` for 1000.
 */
export function QueryInteger(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value,
  );
}
