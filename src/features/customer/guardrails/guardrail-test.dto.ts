import {
  BooleanField,
  EnumField,
  IntegerField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_DIRECTIONS,
  RULE_TYPES,
  type GuardrailAction,
  type GuardrailDirection,
  type GuardrailRule,
} from '../../../core/guardrails/guardrail-rule.js';
import { MAX_PLACES, MAX_TRIAL_LENGTH } from '../../../core/guardrails/guardrail-trial.service.js';
import { RulesField, type GuardrailRuleDto } from './guardrail-rules.dto.js';

export class TestGuardrailsDto {
  @StringField({ minLength: 1, maxLength: MAX_TRIAL_LENGTH, example: 'Write to ada@example.com' })
  text!: string;

  @RulesField({
    optional: true,
    description: 'Unstored rules to test instead of those of the account.',
  })
  rules?: GuardrailRuleDto[];

  @EnumField(GUARDRAIL_ACTIONS, { default: 'block' })
  action?: GuardrailAction;

  @EnumField(GUARDRAIL_DIRECTIONS, {
    default: 'input',
    description: 'Whether the text is a request or a model answer.',
  })
  direction?: GuardrailDirection;
}

class PlaceDto {
  @IntegerField({ example: 9, description: 'In UTF-16 code units, as in JavaScript.' })
  start!: number;

  @IntegerField({ example: 24, description: 'Exclusive.' })
  end!: number;
}

class RuleMatchDto {
  @UuidField({ nullable: true, description: 'Null for `rules` in the request.' })
  guardrail_id!: string | null;

  @StringField({ nullable: true, example: 'personal data' })
  guardrail_name!: string | null;

  @EnumField(GUARDRAIL_ACTIONS, { example: 'block' })
  action!: GuardrailAction;

  @IntegerField({ example: 0, description: 'Index of the rule in `rules`.' })
  rule_index!: number;

  @EnumField(RULE_TYPES, { example: 'pii' })
  rule_type!: GuardrailRule['type'];

  @BooleanField({
    description:
      '`false`: the rule timed out, so the result is unknown. A blocking guardrail then blocks.',
    example: true,
  })
  is_finished!: boolean;

  @ObjectListField(PlaceDto, {
    description: `Matches, at most ${MAX_PLACES}; none for \`max_length\`.`,
  })
  places!: PlaceDto[];
}

export class GuardrailTestDto {
  @BooleanField({
    example: true,
    description: 'Whether a request with this text would be rejected.',
  })
  is_blocked!: boolean;

  @BooleanField({ example: false, description: 'Whether the answer would be flagged.' })
  is_flagged!: boolean;

  @ObjectListField(RuleMatchDto, { description: 'Only rules that match.' })
  matches!: RuleMatchDto[];
}
