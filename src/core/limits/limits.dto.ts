import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import {
  BUDGET_PERIODS,
  type Budget,
  type BudgetPeriod,
  type NameList,
  type RateLimit,
} from '../../canonical/limits.js';

const NAMES = 'Names, in which `*` stands for any text.';

class BudgetDto {
  @ApiProperty({
    enum: BUDGET_PERIODS,
    description: 'In UTC; a week begins on Monday, and `total` never begins anew.',
  })
  period!: BudgetPeriod;

  @ApiProperty({ type: 'integer', minimum: 0, example: 5_000_000 })
  credits!: number;
}

class NameListDto {
  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: `${NAMES} Null or absent: all.`,
    example: ['sandbox/*'],
  })
  allow?: string[] | null;

  @ApiPropertyOptional({
    type: [String],
    nullable: true,
    description: `${NAMES} They count before \`allow\`.`,
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

/** The limits that are to hold from now on, in place of those of before; what is absent or null is not limited. */
export class LimitsDto {
  @Allow()
  @ApiPropertyOptional({
    type: [BudgetDto],
    nullable: true,
    description: 'At most one of each period.',
  })
  budgets?: Budget[] | null;

  @Allow()
  @ApiPropertyOptional({ ...RATE, description: 'Requests in a clock minute.' })
  requests_per_minute?: number | null;

  @Allow()
  @ApiPropertyOptional({
    ...RATE,
    description:
      'Tokens in a clock minute: a prompt by its bound when it comes, and what was used, output too, at the end.',
  })
  tokens_per_minute?: number | null;

  @Allow()
  @ApiPropertyOptional({ ...RATE, description: 'Requests and jobs that are open at once.' })
  max_in_flight?: number | null;

  @Allow()
  @ApiPropertyOptional({ type: NameListDto, nullable: true })
  models?: NameList | null;

  @Allow()
  @ApiPropertyOptional({ type: NameListDto, nullable: true })
  providers?: NameList | null;
}

/** A budget and what is left of it, in credits. */
export class BudgetStateDto extends BudgetDto {
  @ApiProperty({ type: 'integer', description: 'In the current period.', example: 320_000 })
  spent!: number;

  @ApiProperty({ type: 'integer', description: 'Set aside for open requests.', example: 50_000 })
  held!: number;

  @ApiProperty({ type: 'integer', description: 'What a request may still cost.' })
  remaining!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When the next period begins; null: never.',
  })
  renews_at!: string | null;
}

const NUMBER = { type: 'integer', nullable: true, example: null } as const;

/** Limits as they stand; null: none. */
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

/** What a tenant has set for itself or its key, and what the operator has; both hold. */
export class BothLimitsDto {
  @ApiProperty({ type: LimitsStateDto, description: 'Set by the tenant.' })
  limits!: LimitsStateDto;

  @ApiProperty({ type: LimitsStateDto, description: 'Set by the operator.' })
  operator_limits!: LimitsStateDto;
}
