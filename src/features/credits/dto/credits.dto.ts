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
