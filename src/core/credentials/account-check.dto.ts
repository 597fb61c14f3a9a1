import {
  BooleanField,
  EnumField,
  IntegerField,
  StringField,
} from '../../platform/http/field.decorators.js';
import { CHECK_OUTCOMES, isWell, type AccountCheck, type CheckOutcome } from './account-check.js';

export class AccountCheckDto {
  @BooleanField({
    description: 'Whether the vendor accepts the key, or offers no free call to check it.',
    example: true,
  })
  ok!: boolean;

  @IntegerField({
    nullable: true,
    description: 'HTTP status of the rejection; null without one.',
    example: null,
  })
  status!: number | null;

  @StringField({ example: 'The provider takes the key. It lists 93 models.' })
  message!: string;

  @IntegerField({
    nullable: true,
    description: 'How many models the vendor lists; null if it lists none.',
    example: 93,
  })
  models_seen!: number | null;

  @IntegerField({ example: 240 })
  latency_ms!: number;
}

export class KeyCheckDto {
  @EnumField(CHECK_OUTCOMES, {
    description:
      '`ok`: the vendor accepts the key; `refused`: it rejects the key; `unreachable`: it gave no usable answer; ' +
      '`unchecked`: it offers no free call to check it.',
    example: 'ok',
  })
  status!: CheckOutcome;

  @StringField({ example: 'The provider takes the key. It lists 93 models.' })
  detail!: string;

  @IntegerField({
    nullable: true,
    description: 'How many models the vendor lists; null if it lists none.',
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
