import { ApiProperty } from '@nestjs/swagger';

const STATUSES = ['sound', 'broken', 'unchecked'] as const;

export class BookCheckDto {
  @ApiProperty({ example: 'balance_is_entries' })
  id!: string;

  @ApiProperty({ example: 'Each balance is the sum of its entries.' })
  invariant!: string;

  @ApiProperty({
    enum: STATUSES,
    description: '`unchecked`: it was not looked at, or not to the end; see `reason`.',
    example: 'sound',
  })
  status!: (typeof STATUSES)[number];

  @ApiProperty({ type: String, nullable: true, example: null })
  reason!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: ['string', 'null'] },
    description: 'Sums over all tenants, as decimal digits; null: not looked at.',
    example: { balance: '8750000', entries: '8750000' },
  })
  figures!: Record<string, string | null>;

  @ApiProperty({ description: 'What was asked; it finds nothing in sound books.' })
  query!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'The first 20 of the rows at fault.',
    example: [],
  })
  rows!: object[];

  @ApiProperty({ description: 'Whether there are more of them.' })
  has_more_rows!: boolean;

  @ApiProperty({ type: 'integer', example: 120 })
  duration_ms!: number;
}

export class BooksDto {
  @ApiProperty({
    enum: STATUSES,
    description: 'The worst of the checks: `broken`, else `unchecked`, else `sound`.',
    example: 'sound',
  })
  status!: (typeof STATUSES)[number];

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'The one moment that all of it is about.',
  })
  checked_at!: string;

  @ApiProperty({ type: 'integer', example: 900 })
  duration_ms!: number;

  @ApiProperty({ type: [BookCheckDto] })
  checks!: BookCheckDto[];
}
