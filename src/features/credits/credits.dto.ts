import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { QueryInteger } from '../../platform/http/field.decorators.js';

/** Amounts are credits: 1 credit = 0.000001 USD. */
export class CreditTotalsDto {
  @ApiProperty({ description: 'Total credits granted.', example: 10_000_000 })
  total_credits!: number;

  @ApiProperty({ description: 'Total credits charged for requests.', example: 1_250_000 })
  total_usage!: number;
}

export class CreditsDto {
  @ApiProperty({ type: CreditTotalsDto })
  data!: CreditTotalsDto;
}

class BalanceDto {
  @ApiProperty({
    type: 'integer',
    description: 'Available to new requests: `total` less `held`.',
    example: 8_700_000,
  })
  available!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Reserved for running requests.',
    example: 50_000,
  })
  held!: number;

  @ApiProperty({ type: 'integer', description: 'Granted and not yet spent.', example: 8_750_000 })
  total!: number;
}

class CurrentPeriodDto {
  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'The first instant of the calendar month, UTC.',
    example: '2026-01-01T00:00:00.000Z',
  })
  start!: string;

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'The first instant of the next month.',
    example: '2026-02-01T00:00:00.000Z',
  })
  end!: string;

  @ApiProperty({ type: 'integer', description: 'Credits charged.', example: 320_000 })
  spent!: number;

  @ApiProperty({ type: 'integer', example: 2600 })
  requests!: number;
}

class LifetimeDto {
  @ApiProperty({ type: 'integer', description: 'Total credits granted.', example: 10_000_000 })
  granted!: number;

  @ApiProperty({ type: 'integer', description: 'Total credits charged.', example: 1_250_000 })
  spent!: number;

  @ApiProperty({ type: 'integer', example: 10_400 })
  requests!: number;
}

class QuotasDto {
  @ApiProperty({
    type: 'integer',
    description: 'The limit of the calling key or its tenant, whichever is lower.',
    example: 600,
  })
  requests_per_minute!: number;

  @ApiProperty({
    type: 'integer',
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
  @ApiProperty({ type: BalanceDto })
  balance!: BalanceDto;

  @ApiProperty({ type: CurrentPeriodDto })
  current_period!: CurrentPeriodDto;

  @ApiProperty({ type: LifetimeDto })
  lifetime!: LifetimeDto;

  @ApiProperty({ type: QuotasDto })
  quotas!: QuotasDto;
}

const MAX_DAYS = 366;
const DAYS = `days must be a whole number from 1 to ${MAX_DAYS}`;

export class CreditHistoryQueryDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: MAX_DAYS,
    default: 30,
    description: 'Number of UTC days, including today.',
  })
  @QueryInteger()
  @IsInt({ message: DAYS })
  @Min(1, { message: DAYS })
  @Max(MAX_DAYS, { message: DAYS })
  days: number = 30;
}

export class CreditDayDto {
  @ApiProperty({ format: 'date', description: 'The day, UTC.', example: '2026-11-22' })
  day!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Sum of grants, corrections and refunds.',
    example: 10_000_000,
  })
  added!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Charges of requests that started on this day.',
    example: 1_250_000,
  })
  spent!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Balance at the end of the day, or now for today.',
    example: 8_750_000,
  })
  balance!: number;
}

/** Daily balance of a tenant with a forecast. Amounts are credits. */
export class CreditHistoryDto {
  @ApiProperty({ type: [CreditDayDto], description: 'Oldest first.' })
  data!: CreditDayDto[];

  @ApiProperty({
    type: 'integer',
    description: 'Average daily spend over the seven full days before today.',
    example: 425_000,
  })
  daily_spend!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'When available credits run out at this pace; null when nothing is spent or they last ten years.',
    example: '2026-12-14T08:00:00.000Z',
  })
  lasts_until!: string | null;
}
