import { ApiProperty } from '@nestjs/swagger';
import type { AccountCheck } from './account-check.js';

/** What a real call said of a key, for those who gave it. */
export class AccountCheckDto {
  @ApiProperty({ description: 'Whether the vendor took the key.', example: true })
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

export function toAccountCheck(check: AccountCheck): AccountCheckDto {
  const { ok, status, message, modelsSeen, latencyMs } = check;
  return { ok, status, message, models_seen: modelsSeen, latency_ms: latencyMs };
}
