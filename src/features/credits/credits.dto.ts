import { ApiProperty } from '@nestjs/swagger';

/** Amounts are credits: 1 credit = 0.000001 USD. */
export class CreditTotalsDto {
  @ApiProperty({ description: 'Credits ever granted.', example: 10_000_000 })
  total_credits!: number;

  @ApiProperty({ description: 'Credits ever charged for requests.', example: 1_250_000 })
  total_usage!: number;
}

export class CreditsDto {
  @ApiProperty({ type: CreditTotalsDto })
  data!: CreditTotalsDto;
}

class BalanceDto {
  @ApiProperty({
    type: 'integer',
    description: 'What new requests can use: `total` less `held`.',
    example: 8_700_000,
  })
  available!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Set aside for requests that are running.',
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
  @ApiProperty({ type: 'integer', description: 'Credits ever granted.', example: 10_000_000 })
  granted!: number;

  @ApiProperty({ type: 'integer', description: 'Credits ever charged.', example: 1_250_000 })
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
