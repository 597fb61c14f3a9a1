import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  MapField,
  SchemaField,
  StringField,
} from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';

const STATUSES = ['sound', 'broken', 'unchecked'] as const;

export class BookCheckDto {
  @StringField({ example: 'balance_is_entries' })
  id!: string;

  @StringField({ example: 'Each balance is the sum of its entries.' })
  invariant!: string;

  @EnumField(STATUSES, {
    description: '`unchecked`: the check did not run or did not finish; see `reason`.',
    example: 'sound',
  })
  status!: (typeof STATUSES)[number];

  @StringField({ nullable: true, example: null })
  reason!: string | null;

  @MapField(
    { type: ['string', 'null'] },
    {
      description: 'Sums over all tenants in decimal digits; null when unchecked.',
      example: { balance: '8750000', entries: '8750000' },
    },
  )
  figures!: Record<string, string | null>;

  @StringField({ description: 'The query. It returns no rows when the invariant holds.' })
  query!: string;

  @SchemaField(
    { type: 'array', items: { type: 'object', additionalProperties: true } },
    {
      description: 'The first 20 violating rows.',
      example: [],
    },
  )
  rows!: object[];

  @BooleanField({ description: 'Whether there are more violating rows.' })
  has_more_rows!: boolean;

  @IntegerField({ example: 120 })
  duration_ms!: number;
}

export class BooksDto {
  @EnumField(STATUSES, {
    description: 'The worst result: `broken`, then `unchecked`, then `sound`.',
    example: 'sound',
  })
  status!: (typeof STATUSES)[number];

  @DateTimeField({ description: 'Time of the snapshot.' })
  checked_at!: string;

  @IntegerField({ example: 900 })
  duration_ms!: number;

  @ObjectListField(BookCheckDto)
  checks!: BookCheckDto[];
}
