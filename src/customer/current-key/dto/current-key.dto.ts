import { ApiProperty } from '@nestjs/swagger';

class KeyRateLimitDto {
  @ApiProperty({ type: 'integer', example: 600 })
  requests!: number;

  @ApiProperty({ example: '1m' })
  interval!: string;
}

/** The calling key, in the words of the compatibility layer. Amounts are credits. */
export class CurrentKeyRecordDto {
  @ApiProperty({ description: "The key's name.", example: 'billing service' })
  label!: string;

  @ApiProperty({ type: 'integer', description: 'Credits ever charged to it.', example: 12_500 })
  usage!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'What it may spend in a calendar month; null: no limit of its own.',
    example: null,
  })
  limit!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'What is left of that in this month, less what running requests set aside.',
    example: null,
  })
  limit_remaining!: number | null;

  @ApiProperty({ example: false })
  is_free_tier!: boolean;

  @ApiProperty({ type: KeyRateLimitDto })
  rate_limit!: KeyRateLimitDto;
}

export class CurrentKeyDto {
  @ApiProperty({ type: CurrentKeyRecordDto })
  data!: CurrentKeyRecordDto;
}
