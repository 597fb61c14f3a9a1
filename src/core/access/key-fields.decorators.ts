import { MAX_RATE_LIMIT_PER_MINUTE } from '../../platform/config/setting-values.js';
import {
  DateTimeField,
  IntegerField,
  type FieldDecorator,
} from '../../platform/http/field.decorators.js';

interface Clearable {
  readonly optional: true;
  readonly nullable: true;
}

/** When a key stops working: an ISO time, or null for never. */
export function KeyExpiry(description: string): FieldDecorator<string, Clearable> {
  const example = '2030-12-31T23:59:59Z';
  return DateTimeField({ optional: true, nullable: true, description, example });
}

/** A key's requests in a minute. */
export function KeyRateLimit(
  description: string,
): FieldDecorator<number, { readonly optional: true }> {
  const maximum = MAX_RATE_LIMIT_PER_MINUTE;
  return IntegerField({ optional: true, minimum: 1, maximum, description, example: 600 });
}

/** A key's credits in a calendar month; null for no limit of its own. */
export function KeySpendLimit(description: string): FieldDecorator<number, Clearable> {
  return IntegerField({
    optional: true,
    nullable: true,
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
    example: 5_000_000,
  });
}
