import { ApiProperty, ApiPropertyOptional, OmitType } from '@nestjs/swagger';
import { IsOptional, IsString } from 'class-validator';
import { LogGroupListDto } from '../../../core/request-log/log-groups.dto.js';
import { LogFilterQueryDto } from '../../../core/request-log/log-query.dto.js';
import { LEDGER_ENTRY_KINDS, type LedgerEntryKind } from '../../../core/ledger/statement.reader.js';

/** Grouping and filters. Without any, the statement has its entries. */
export class StatementQueryDto extends OmitType(LogFilterQueryDto, ['start_date', 'end_date']) {
  @ApiPropertyOptional({
    description:
      'One analytics dimension, or two separated by a comma. Defaults to `model` with a filter.',
  })
  @IsOptional()
  @IsString({ message: 'group_by must be one dimension, or two separated by a comma' })
  group_by?: string;
}

class StatementTotalsDto implements Record<LedgerEntryKind, number> {
  @ApiProperty({ type: 'integer', description: 'Credits granted.', example: 10_000_000 })
  grant!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Corrections by the operator; negative for debits.',
    example: 0,
  })
  correction!: number;

  @ApiProperty({ type: 'integer', description: 'Charges, negative.', example: -1_250_000 })
  charge!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Parts of charges not covered by the balance, which are not collected.',
    example: 0,
  })
  shortfall!: number;

  @ApiProperty({ type: 'integer', example: 0 })
  refund!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Total change: `closing_balance` less `opening_balance`.',
    example: 8_750_000,
  })
  net!: number;
}

export class StatementEntryDto {
  @ApiProperty({ example: '1042' })
  id!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({ enum: LEDGER_ENTRY_KINDS, example: 'charge' })
  kind!: LedgerEntryKind;

  @ApiProperty({ type: 'integer', description: 'Credits; negative for debits.', example: -121 })
  amount!: number;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  request_id!: string | null;
}

class StatementMonthDto {
  @ApiProperty({ example: '2026-01' })
  month!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Charges less shortfalls and refunds, in credits.',
    example: 1_250_000,
  })
  spent!: number;

  @ApiProperty({ type: 'integer', example: 10_400 })
  requests!: number;
}

export class StatementMonthListDto {
  @ApiProperty({ type: [StatementMonthDto], description: 'Newest first.' })
  data!: StatementMonthDto[];
}

/** A calendar month of the ledger (UTC). Amounts are credits. */
export class StatementDto {
  @ApiProperty({ example: '2026-01' })
  month!: string;

  @ApiProperty({ type: 'integer', example: 0 })
  opening_balance!: number;

  @ApiProperty({ type: 'integer', example: 8_750_000 })
  closing_balance!: number;

  @ApiProperty({ type: StatementTotalsDto })
  totals!: StatementTotalsDto;

  @ApiProperty({
    type: [StatementEntryDto],
    description: 'Oldest first; empty with `group_by` or a filter.',
  })
  entries!: StatementEntryDto[];

  @ApiPropertyOptional({
    type: LogGroupListDto,
    description: 'Requests that started in the month, with `group_by` or a filter.',
  })
  requests?: LogGroupListDto;
}
