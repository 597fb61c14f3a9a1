import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import {
  BUDGET_PERIODS,
  type Budget,
  type BudgetPeriod,
  type NameList,
  type RateLimit,
} from '../../canonical/limits.js';

const NAMES = 'Names, with `*` as a wildcard.';

class BudgetDto {
  @ApiProperty({
    enum: BUDGET_PERIODS,
    description: 'Periods are in UTC. Weeks start on Monday, and `total` never resets.',
  })
  period!: BudgetPeriod;

  @ApiProperty({ type: 'integer', minimum: 0, example: 5_000_000 })
  credits!: number;
}

class NameListDto {
  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: `${NAMES} Null or absent allows all.`,
    example: ['sandbox/*'],
  })
  allow?: string[] | null;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: `${NAMES} Takes precedence over \`allow\`.`,
    example: ['*-preview'],
  })
  deny?: string[] | null;
}

const RATE = {
  type: 'integer',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  nullable: true,
  example: null,
} as const;

/** Limits that replace the previous ones; absent or null ones are unlimited. */
export class LimitsDto {
  @Allow()
  @ApiPropertyOptional({
    type: [BudgetDto],
    nullable: true,
    description: 'At most one per period.',
  })
  budgets?: Budget[] | null;

  @Allow()
  @ApiPropertyOptional({ ...RATE, description: 'Requests per clock minute.' })
  requests_per_minute?: number | null;

  @Allow()
  @ApiPropertyOptional({
    ...RATE,
    description:
      'Tokens per clock minute: the prompt’s upper bound on arrival, corrected to the actual usage, output included, at the end.',
  })
  tokens_per_minute?: number | null;

  @Allow()
  @ApiPropertyOptional({ ...RATE, description: 'Concurrent requests and jobs.' })
  max_in_flight?: number | null;

  @Allow()
  @ApiPropertyOptional({ type: NameListDto, nullable: true })
  models?: NameList | null;

  @Allow()
  @ApiPropertyOptional({ type: NameListDto, nullable: true })
  providers?: NameList | null;
}

/** A budget and its use, in credits. */
export class BudgetStateDto extends BudgetDto {
  @ApiProperty({ type: 'integer', description: 'Spent in the current period.', example: 320_000 })
  spent!: number;

  @ApiProperty({ type: 'integer', description: 'Reserved for open requests.', example: 50_000 })
  held!: number;

  @ApiProperty({ type: 'integer', description: 'Credits left for new requests.' })
  remaining!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Start of the next period; null for never.',
  })
  renews_at!: string | null;
}

const NUMBER = { type: 'integer', nullable: true, example: null } as const;

/** Limits with their current use. */
export class LimitsStateDto implements Record<RateLimit, number | null> {
  @ApiProperty({ type: [BudgetStateDto] })
  budgets!: BudgetStateDto[];

  @ApiProperty(NUMBER)
  requests_per_minute!: number | null;

  @ApiProperty(NUMBER)
  tokens_per_minute!: number | null;

  @ApiProperty(NUMBER)
  max_in_flight!: number | null;

  @ApiProperty({ type: NameListDto, nullable: true })
  models!: NameList | null;

  @ApiProperty({ type: NameListDto, nullable: true })
  providers!: NameList | null;
}

/** Limits set by the tenant and by the operator; both apply. */
export class BothLimitsDto {
  @ApiProperty({ type: LimitsStateDto, description: 'Set by the tenant.' })
  limits!: LimitsStateDto;

  @ApiProperty({ type: LimitsStateDto, description: 'Set by the operator.' })
  operator_limits!: LimitsStateDto;
}
