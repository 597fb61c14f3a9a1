import { DateTimeField, EnumField, IntegerField } from '../../platform/http/field.decorators.js';
import {
  ObjectField,
  ObjectListField,
  StringListField,
} from '../../platform/http/nested-field.decorators.js';
import {
  BUDGET_PERIODS,
  type BudgetPeriod,
  type NameList,
  type RateLimit,
} from '../../canonical/limits.js';

const NAMES = 'Names, with `*` as a wildcard.';
const MAX = Number.MAX_SAFE_INTEGER;

class BudgetDto {
  @EnumField(BUDGET_PERIODS, {
    description: 'Periods are in UTC. Weeks start on Monday, and `total` never resets.',
  })
  period!: BudgetPeriod;

  @IntegerField({ minimum: 0, maximum: MAX, example: 5_000_000 })
  credits!: number;
}

/** Names of models or providers, wildcards included. */
const NAME_LIST = {
  optional: true,
  nullable: true,
  maxItems: 100,
  item: { maxLength: 256, pattern: /^[\x21-\x7e]+$/ },
} as const;

class NameListDto {
  @StringListField({
    ...NAME_LIST,
    description: `${NAMES} Null or absent allows all.`,
    example: ['sandbox/*'],
  })
  allow?: readonly string[] | null;

  @StringListField({
    ...NAME_LIST,
    description: `${NAMES} Takes precedence over \`allow\`.`,
    example: ['*-preview'],
  })
  deny?: readonly string[] | null;
}

const RATE = { optional: true, nullable: true, minimum: 1, maximum: MAX, example: null } as const;

/** Limits that replace the previous ones; absent or null ones are unlimited. */
export class LimitsDto {
  @ObjectListField(BudgetDto, {
    optional: true,
    nullable: true,
    uniqueBy: 'period',
    maxItems: BUDGET_PERIODS.length,
    description: 'At most one per period.',
  })
  budgets?: BudgetDto[] | null;

  @IntegerField({ ...RATE, description: 'Requests per clock minute.' })
  requests_per_minute?: number | null;

  @IntegerField({
    ...RATE,
    description:
      'Tokens per clock minute: the prompt’s upper bound on arrival, corrected to the actual usage, output included, at the end.',
  })
  tokens_per_minute?: number | null;

  @IntegerField({ ...RATE, description: 'Concurrent requests and jobs.' })
  max_in_flight?: number | null;

  @ObjectField(NameListDto, { optional: true, nullable: true })
  models?: NameListDto | null;

  @ObjectField(NameListDto, { optional: true, nullable: true })
  providers?: NameListDto | null;
}

/** A budget and its use, in credits. */
export class BudgetStateDto extends BudgetDto {
  @IntegerField({ description: 'Spent in the current period.', example: 320_000 })
  spent!: number;

  @IntegerField({ description: 'Reserved for open requests.', example: 50_000 })
  held!: number;

  @IntegerField({ description: 'Credits left for new requests.' })
  remaining!: number;

  @DateTimeField({ nullable: true, description: 'Start of the next period; null for never.' })
  renews_at!: string | null;
}

const NUMBER = { nullable: true, example: null } as const;

/** Limits with their current use. */
export class LimitsStateDto implements Record<RateLimit, number | null> {
  @ObjectListField(BudgetStateDto)
  budgets!: BudgetStateDto[];

  @IntegerField(NUMBER)
  requests_per_minute!: number | null;

  @IntegerField(NUMBER)
  tokens_per_minute!: number | null;

  @IntegerField(NUMBER)
  max_in_flight!: number | null;

  @ObjectField(NameListDto, { nullable: true })
  models!: NameList | null;

  @ObjectField(NameListDto, { nullable: true })
  providers!: NameList | null;
}

/** Limits set by the tenant and by the operator; both apply. */
export class BothLimitsDto {
  @ObjectField(LimitsStateDto, { description: 'Set by the tenant.' })
  limits!: LimitsStateDto;

  @ObjectField(LimitsStateDto, { description: 'Set by the operator.' })
  operator_limits!: LimitsStateDto;
}
