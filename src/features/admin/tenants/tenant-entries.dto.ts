import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { LEDGER_ENTRY_KINDS, type LedgerEntryKind } from '../../../core/ledger/statement.reader.js';
import { MAX_GRANT_CREDITS } from '../../../platform/config/setting-values.js';
import { CursorPageDto, CursorPageQueryDto } from '../../../platform/http/cursor-page.js';

const MAX_MEMO = 1_000;

/** A note stored permanently with the entry. */
export function IsMemo(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: String,
      nullable: true,
      maxLength: MAX_MEMO,
      description: 'Reason for the entry. It cannot be changed or deleted, so do not name people.',
      example: 'invoice 2026-118',
    }),
    IsOptional(),
    Matches(new RegExp(`^[^]{1,${MAX_MEMO}}$`, 'u'), {
      message: `memo must be a string of 1 to ${MAX_MEMO} characters`,
    }),
  );
}

/** A ledger entry. Amounts are credits. */
export class LedgerEntryDto {
  @ApiProperty({ example: '1042' })
  id!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  created_at!: string;

  @ApiProperty({ enum: LEDGER_ENTRY_KINDS, example: 'grant' })
  kind!: LedgerEntryKind;

  @ApiProperty({ type: 'integer', description: 'Negative for a debit.', example: 5_000_000 })
  amount!: number;

  @ApiProperty({ type: String, format: 'uuid', nullable: true })
  request_id!: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'invoice 2026-118' })
  memo!: string | null;
}

export class LedgerEntryListDto extends CursorPageDto {
  @ApiProperty({ type: [LedgerEntryDto], description: 'Newest first.' })
  data!: LedgerEntryDto[];
}

export class LedgerEntryQueryDto extends CursorPageQueryDto {
  @ApiPropertyOptional({ enum: LEDGER_ENTRY_KINDS })
  @IsOptional()
  @IsIn(LEDGER_ENTRY_KINDS, { message: `kind must be one of ${LEDGER_ENTRY_KINDS.join(', ')}` })
  kind?: LedgerEntryKind;
}

const GRANT = `credits must be an integer from 1 to ${MAX_GRANT_CREDITS}`;

export class CreateGrantDto {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: MAX_GRANT_CREDITS, example: 5_000_000 })
  @IsInt({ message: GRANT })
  @Min(1, { message: GRANT })
  @Max(MAX_GRANT_CREDITS, { message: GRANT })
  credits!: number;

  @IsMemo()
  memo?: string | null;
}

const CORRECTION = `credits must be an integer from -${MAX_GRANT_CREDITS} to ${MAX_GRANT_CREDITS}`;

export class CreateCorrectionDto {
  @ApiProperty({
    type: 'integer',
    minimum: -MAX_GRANT_CREDITS,
    maximum: MAX_GRANT_CREDITS,
    description: 'Negative to remove credits, up to the available amount. Not 0.',
    example: -1_500,
  })
  @IsInt({ message: CORRECTION })
  @Min(-MAX_GRANT_CREDITS, { message: CORRECTION })
  @Max(MAX_GRANT_CREDITS, { message: CORRECTION })
  credits!: number;

  @IsMemo()
  memo?: string | null;
}
