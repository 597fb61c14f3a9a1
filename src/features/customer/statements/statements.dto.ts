import { OmitType } from '@nestjs/swagger';
import {
  DateTimeField,
  EnumField,
  IntegerField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { LogGroupListDto } from '../../../core/request-log/log-groups.dto.js';
import { LogFilterQueryDto } from '../../../core/request-log/log-query.dto.js';
import { LEDGER_ENTRY_KINDS, type LedgerEntryKind } from '../../../core/ledger/statement.reader.js';

/** Grouping and filters. Without any, the statement has its entries. */
export class StatementQueryDto extends OmitType(LogFilterQueryDto, ['start_date', 'end_date']) {
  @StringField({
    optional: true,
    description:
      'One analytics dimension, or two separated by a comma. Defaults to `model` with a filter.',
    message: 'must be one dimension, or two separated by a comma',
  })
  group_by?: string;
}

class StatementTotalsDto implements Record<LedgerEntryKind, number> {
  @IntegerField({ description: 'Credits granted.', example: 10_000_000 })
  grant!: number;

  @IntegerField({ description: 'Corrections by the operator; negative for debits.', example: 0 })
  correction!: number;

  @IntegerField({ description: 'Charges, negative.', example: -1_250_000 })
  charge!: number;

  @IntegerField({
    description: 'Parts of charges not covered by the balance, which are not collected.',
    example: 0,
  })
  shortfall!: number;

  @IntegerField({ example: 0 })
  refund!: number;

  @IntegerField({
    description: 'Total change: `closing_balance` less `opening_balance`.',
    example: 8_750_000,
  })
  net!: number;
}

export class StatementEntryDto {
  @StringField({ example: '1042' })
  id!: string;

  @DateTimeField()
  created_at!: string;

  @EnumField(LEDGER_ENTRY_KINDS, { example: 'charge' })
  kind!: LedgerEntryKind;

  @IntegerField({ description: 'Credits; negative for debits.', example: -121 })
  amount!: number;

  @UuidField({ nullable: true })
  request_id!: string | null;
}

class StatementMonthDto {
  @StringField({ example: '2026-01' })
  month!: string;

  @IntegerField({
    description: 'Charges less shortfalls and refunds, in credits.',
    example: 1_250_000,
  })
  spent!: number;

  @IntegerField({ example: 10_400 })
  requests!: number;
}

export class StatementMonthListDto {
  @ObjectListField(StatementMonthDto, { description: 'Newest first.' })
  data!: StatementMonthDto[];
}

/** A calendar month of the ledger (UTC). Amounts are credits. */
export class StatementDto {
  @StringField({ example: '2026-01' })
  month!: string;

  @IntegerField({ example: 0 })
  opening_balance!: number;

  @IntegerField({ example: 8_750_000 })
  closing_balance!: number;

  @ObjectField(StatementTotalsDto)
  totals!: StatementTotalsDto;

  @ObjectListField(StatementEntryDto, {
    description: 'Oldest first; empty with `group_by` or a filter.',
  })
  entries!: StatementEntryDto[];

  @ObjectField(LogGroupListDto, {
    optional: true,
    description: 'Requests that started in the month, with `group_by` or a filter.',
  })
  requests?: LogGroupListDto;
}
