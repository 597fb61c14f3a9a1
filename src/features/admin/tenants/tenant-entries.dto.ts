import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import {
  DateTimeField,
  EnumField,
  IntegerField,
  StringField,
  UuidField,
  type FieldDecorator,
} from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { LEDGER_ENTRY_KINDS, type LedgerEntryKind } from '../../../core/ledger/statement.reader.js';
import { MAX_GRANT_CREDITS } from '../../../platform/config/setting-values.js';

const MAX_MEMO = 1_000;

/** A note stored permanently with the entry. */
export function MemoField(): FieldDecorator<
  string,
  { readonly optional: true; readonly nullable: true }
> {
  return StringField({
    optional: true,
    nullable: true,
    minLength: 1,
    maxLength: MAX_MEMO,
    description: 'Reason for the entry. It cannot be changed or deleted, so do not name people.',
    example: 'invoice 2026-118',
  });
}

/** A ledger entry. Amounts are credits. */
export class LedgerEntryDto {
  @StringField({ example: '1042' })
  id!: string;

  @DateTimeField()
  created_at!: string;

  @EnumField(LEDGER_ENTRY_KINDS, { example: 'grant' })
  kind!: LedgerEntryKind;

  @IntegerField({ description: 'Negative for a debit.', example: 5_000_000 })
  amount!: number;

  @UuidField({ nullable: true })
  request_id!: string | null;

  @StringField({ nullable: true, example: 'invoice 2026-118' })
  memo!: string | null;
}

export class LedgerEntryListDto extends CursorPageDto {
  @ObjectListField(LedgerEntryDto, { description: 'Newest first.' })
  data!: LedgerEntryDto[];
}

export class LedgerEntryQueryDto extends CursorPageQueryDto {
  @EnumField(LEDGER_ENTRY_KINDS, { optional: true })
  kind?: LedgerEntryKind;
}

export class CreateGrantDto {
  @IntegerField({ minimum: 1, maximum: MAX_GRANT_CREDITS, example: 5_000_000 })
  credits!: number;

  @MemoField()
  memo?: string | null;
}

export class CreateCorrectionDto {
  @IntegerField({
    minimum: -MAX_GRANT_CREDITS,
    maximum: MAX_GRANT_CREDITS,
    description: 'Negative to remove credits, up to the available amount. Not 0.',
    example: -1_500,
  })
  credits!: number;

  @MemoField()
  memo?: string | null;
}
