import { ApiProperty } from '@nestjs/swagger';
import { CHECK_OUTCOMES, isWell, type AccountCheck, type CheckOutcome } from './account-check.js';

/** What a real call said of a key, for those who gave it. */
export class AccountCheckDto {
  @ApiProperty({
    description: 'Whether the vendor took the key, or has no free call that tells.',
    example: true,
  })
  ok!: boolean;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'With which the vendor refused; null: it did not, or did not answer.',
    example: null,
  })
  status!: number | null;

  @ApiProperty({ example: 'The provider takes the key. It lists 93 models.' })
  message!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How many models the vendor lists; null where it lists none.',
    example: 93,
  })
  models_seen!: number | null;

  @ApiProperty({ type: 'integer', example: 240 })
  latency_ms!: number;
}

/** What a real call said of a key when it was set. */
export class KeyCheckDto {
  @ApiProperty({
    enum: CHECK_OUTCOMES,
    description:
      '`ok`: the vendor takes the key; `refused`: it does not; `unreachable`: it gave no answer that tells; ' +
      '`unchecked`: it has no free call that would.',
    example: 'ok',
  })
  status!: CheckOutcome;

  @ApiProperty({ example: 'The provider takes the key. It lists 93 models.' })
  detail!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'How many models the vendor lists; null where it lists none.',
    example: 93,
  })
  models!: number | null;
}

export function toAccountCheck(check: AccountCheck): AccountCheckDto {
  const { status, message, modelsSeen, latencyMs } = check;
  return { ok: isWell(check), status, message, models_seen: modelsSeen, latency_ms: latencyMs };
}

export function toKeyCheck({ outcome, message, modelsSeen }: AccountCheck): KeyCheckDto {
  return { status: outcome, detail: message, models: modelsSeen };
}
