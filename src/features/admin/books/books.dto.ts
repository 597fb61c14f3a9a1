import { ApiProperty } from '@nestjs/swagger';

const STATUSES = ['sound', 'broken', 'unchecked'] as const;

export class BookCheckDto {
  @ApiProperty({ example: 'balance_is_entries' })
  id!: string;

  @ApiProperty({ example: 'Each balance is the sum of its entries.' })
  invariant!: string;

  @ApiProperty({
    enum: STATUSES,
    description: '`unchecked`: the check did not run or did not finish; see `reason`.',
    example: 'sound',
  })
  status!: (typeof STATUSES)[number];

  @ApiProperty({ type: String, nullable: true, example: null })
  reason!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: ['string', 'null'] },
    description: 'Sums over all tenants in decimal digits; null when unchecked.',
    example: { balance: '8750000', entries: '8750000' },
  })
  figures!: Record<string, string | null>;

  @ApiProperty({ description: 'The query. It returns no rows when the invariant holds.' })
  query!: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'The first 20 violating rows.',
    example: [],
  })
  rows!: object[];

  @ApiProperty({ description: 'Whether there are more violating rows.' })
  has_more_rows!: boolean;

  @ApiProperty({ type: 'integer', example: 120 })
  duration_ms!: number;
}

export class BooksDto {
  @ApiProperty({
    enum: STATUSES,
    description: 'The worst result: `broken`, then `unchecked`, then `sound`.',
    example: 'sound',
  })
  status!: (typeof STATUSES)[number];

  @ApiProperty({
    type: String,
    format: 'date-time',
    description: 'Time of the snapshot.',
  })
  checked_at!: string;

  @ApiProperty({ type: 'integer', example: 900 })
  duration_ms!: number;

  @ApiProperty({ type: [BookCheckDto] })
  checks!: BookCheckDto[];
}
