import { IntersectionType } from '@nestjs/swagger';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { EnumField, IntegerField, StringField } from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { LEDGER_ENTRY_KINDS, type LedgerEntryKind } from '../../../core/ledger/statement.reader.js';
import { StatementEntryDto } from '../statements/statements.dto.js';

/** Filters of entries, combined with AND. */
export class LedgerEntryFilterDto {
  @EnumField(LEDGER_ENTRY_KINDS, { optional: true })
  kind?: LedgerEntryKind;

  @StringField({
    optional: true,
    description: 'A calendar month (UTC), such as `2026-01`.',
    pattern: /^[0-9]{4}-(0[1-9]|1[0-2])$/,
    message: 'must be a month such as 2026-01',
  })
  month?: string;
}

export class LedgerEntryQueryDto extends IntersectionType(
  LedgerEntryFilterDto,
  CursorPageQueryDto,
) {}

/** A ledger entry. Amounts are credits. */
export class TenantLedgerEntryDto extends StatementEntryDto {
  @IntegerField({
    nullable: true,
    description: 'Balance after this entry in list order; null with `kind`.',
    example: 8_750_000,
  })
  balance_after!: number | null;
}

export class TenantLedgerEntryListDto extends CursorPageDto {
  @ObjectListField(TenantLedgerEntryDto, { description: 'Newest first.' })
  data!: TenantLedgerEntryDto[];
}
