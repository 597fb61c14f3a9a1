import {
  DateTimeField,
  IntegerField,
  NumberField,
  QueryIntegerField,
  StringField,
} from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';

/** Amounts are credits: 1 credit = 0.000001 USD. */
export class CreditTotalsDto {
  @NumberField({ description: 'Total credits granted.', example: 10_000_000 })
  total_credits!: number;

  @NumberField({ description: 'Total credits charged for requests.', example: 1_250_000 })
  total_usage!: number;
}

export class CreditsDto {
  @ObjectField(CreditTotalsDto)
  data!: CreditTotalsDto;
}

class BalanceDto {
  @IntegerField({
    description: 'Available to new requests: `total` less `held`.',
    example: 8_700_000,
  })
  available!: number;

  @IntegerField({ description: 'Reserved for running requests.', example: 50_000 })
  held!: number;

  @IntegerField({ description: 'Granted and not yet spent.', example: 8_750_000 })
  total!: number;
}

class CurrentPeriodDto {
  @DateTimeField({
    description: 'The first instant of the calendar month, UTC.',
    example: '2026-01-01T00:00:00.000Z',
  })
  start!: string;

  @DateTimeField({
    description: 'The first instant of the next month.',
    example: '2026-02-01T00:00:00.000Z',
  })
  end!: string;

  @IntegerField({ description: 'Credits charged.', example: 320_000 })
  spent!: number;

  @IntegerField({ example: 2600 })
  requests!: number;
}

class LifetimeDto {
  @IntegerField({ description: 'Total credits granted.', example: 10_000_000 })
  granted!: number;

  @IntegerField({ description: 'Total credits charged.', example: 1_250_000 })
  spent!: number;

  @IntegerField({ example: 10_400 })
  requests!: number;
}

class QuotasDto {
  @IntegerField({
    description: 'The limit of the calling key or its tenant, whichever is lower.',
    example: 600,
  })
  requests_per_minute!: number;

  @IntegerField({
    nullable: true,
    description:
      'Credits in a calendar month: the limit or budget of the calling key or its tenant, whichever is lowest; ' +
      'null: only the balance limits the spend.',
    example: null,
  })
  monthly_spend_limit!: number | null;
}

/** The tenant's account at a glance. Amounts are credits: 1 credit = 0.000001 USD. */
export class CustomerCreditsDto {
  @ObjectField(BalanceDto)
  balance!: BalanceDto;

  @ObjectField(CurrentPeriodDto)
  current_period!: CurrentPeriodDto;

  @ObjectField(LifetimeDto)
  lifetime!: LifetimeDto;

  @ObjectField(QuotasDto)
  quotas!: QuotasDto;
}

const MAX_DAYS = 366;

export class CreditHistoryQueryDto {
  @QueryIntegerField({
    minimum: 1,
    maximum: MAX_DAYS,
    default: 30,
    description: 'Number of UTC days, including today.',
  })
  days: number = 30;
}

export class CreditDayDto {
  @StringField({ format: 'date', description: 'The day, UTC.', example: '2026-11-22' })
  day!: string;

  @IntegerField({ description: 'Sum of grants, corrections and refunds.', example: 10_000_000 })
  added!: number;

  @IntegerField({
    description: 'Charges of requests that started on this day.',
    example: 1_250_000,
  })
  spent!: number;

  @IntegerField({
    description: 'Balance at the end of the day, or now for today.',
    example: 8_750_000,
  })
  balance!: number;
}

/** Daily balance of a tenant with a forecast. Amounts are credits. */
export class CreditHistoryDto {
  @ObjectListField(CreditDayDto, { description: 'Oldest first.' })
  data!: CreditDayDto[];

  @IntegerField({
    description: 'Average daily spend over the seven full days before today.',
    example: 425_000,
  })
  daily_spend!: number;

  @DateTimeField({
    nullable: true,
    description:
      'When available credits run out at this pace; null when nothing is spent or they last ten years.',
    example: '2026-12-14T08:00:00.000Z',
  })
  lasts_until!: string | null;
}
