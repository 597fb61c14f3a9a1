import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  NameField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { EnumListField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import {
  GUARDRAIL_ACTIONS,
  type GuardrailAction,
  type GuardrailDirection,
  type GuardrailRule,
  GUARDRAIL_DIRECTIONS,
} from '../../../core/guardrails/guardrail-rule.js';
import { DeletedDto } from '../../../platform/http/deleted.dto.js';
import { RulesField, type GuardrailRuleDto } from './guardrail-rules.dto.js';

/** Fields that creation and update share. */
const DESCRIPTION = { optional: true, nullable: true, maxLength: 2_000 } as const;
const DIRECTIONS = {
  minItems: 1,
  uniqueItems: true,
  default: ['input'],
  description: 'Texts to check: requests, model answers, or both.',
} as const;

/** A new guardrail. */
export class CreatedGuardrailDto {
  @UuidField()
  id!: string;

  @StringField({ example: 'no project names' })
  name!: string;

  @StringField({ nullable: true })
  description!: string | null;

  @RulesField()
  rules!: GuardrailRule[];

  @EnumField(GUARDRAIL_ACTIONS, { example: 'block' })
  action!: GuardrailAction;

  @EnumListField(GUARDRAIL_DIRECTIONS, { ...DIRECTIONS, default: undefined })
  applies_to!: GuardrailDirection[];

  @BooleanField({ example: true })
  is_enabled!: boolean;

  @IntegerField({ description: 'Number of matching requests and answers.' })
  trigger_count!: number;

  @DateTimeField()
  created_at!: string;
}

/** A guardrail with its latest match. */
export class GuardrailDto extends CreatedGuardrailDto {
  @DateTimeField({ nullable: true, description: 'Null before the first match.' })
  last_triggered_at!: string | null;

  @DateTimeField()
  updated_at!: string;
}

export class GuardrailListDto {
  @ObjectListField(GuardrailDto, { description: 'Newest first.' })
  data!: GuardrailDto[];
}

export class DeletedGuardrailDto extends DeletedDto {}

export class CreateGuardrailDto {
  @NameField({ example: 'no project names' })
  name!: string;

  @StringField(DESCRIPTION)
  description?: string | null;

  @RulesField()
  rules!: GuardrailRuleDto[];

  @EnumField(GUARDRAIL_ACTIONS, { default: 'block' })
  action?: GuardrailAction;

  @EnumListField(GUARDRAIL_DIRECTIONS, DIRECTIONS)
  applies_to?: GuardrailDirection[];

  @BooleanField({ default: true })
  is_enabled?: boolean;
}

/** Omitted fields keep their values. `rules` are replaced as a whole. */
export class UpdateGuardrailDto {
  @NameField({ optional: true, example: 'no project names' })
  name?: string;

  @StringField(DESCRIPTION)
  description?: string | null;

  @RulesField({ optional: true })
  rules?: GuardrailRuleDto[];

  @EnumField(GUARDRAIL_ACTIONS, { default: 'block' })
  action?: GuardrailAction;

  @EnumListField(GUARDRAIL_DIRECTIONS, DIRECTIONS)
  applies_to?: GuardrailDirection[];

  @BooleanField({ default: true })
  is_enabled?: boolean;
}
