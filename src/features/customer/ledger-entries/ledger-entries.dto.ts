import { ApiProperty, ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { LEDGER_ENTRY_KINDS, type LedgerEntryKind } from '../../../core/ledger/statement.reader.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';
import { StatementEntryDto } from '../statements/statements.dto.js';

/** Filters of entries, combined with AND. */
export class LedgerEntryFilterDto {
  @ApiPropertyOptional({ enum: LEDGER_ENTRY_KINDS })
  @IsOptional()
  @IsIn(LEDGER_ENTRY_KINDS, { message: `kind must be one of ${LEDGER_ENTRY_KINDS.join(', ')}` })
  kind?: LedgerEntryKind;

  @ApiPropertyOptional({
    description: 'A calendar month (UTC), such as `2026-01`.',
    pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
  })
  @IsOptional()
  @Matches(/^\d{4}-(?:0[1-9]|1[0-2])$/, { message: 'month must be written as 2026-01' })
  month?: string;
}

export class LedgerEntryQueryDto extends IntersectionType(
  LedgerEntryFilterDto,
  CursorPageQueryDto,
) {}

/** A ledger entry. Amounts are credits. */
export class TenantLedgerEntryDto extends StatementEntryDto {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Balance after this entry in list order; null with `kind`.',
    example: 8_750_000,
  })
  balance_after!: number | null;
}

export class TenantLedgerEntryListDto extends CursorPageDto {
  @ApiProperty({ type: [TenantLedgerEntryDto], description: 'Newest first.' })
  data!: TenantLedgerEntryDto[];
}
