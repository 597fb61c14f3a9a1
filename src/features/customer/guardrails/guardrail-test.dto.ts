import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import {
  GUARDRAIL_ACTIONS,
  GUARDRAIL_DIRECTIONS,
  RULE_TYPES,
  type GuardrailAction,
  type GuardrailDirection,
  type GuardrailRule,
} from '../../../core/guardrails/guardrail-rule.js';
import { MAX_PLACES, MAX_TRIAL_LENGTH } from '../../../core/guardrails/guardrail-trial.service.js';
import { MayBeAbsent } from '../../../platform/http/field.decorators.js';
import { IsGuardrailAction, IsRuleArray, RULES_PROPERTY } from './guardrails.dto.js';

export class TestGuardrailsDto {
  @ApiProperty({ minLength: 1, maxLength: MAX_TRIAL_LENGTH, example: 'Write to ada@example.com' })
  @Matches(new RegExp(`^[^]{1,${MAX_TRIAL_LENGTH}}$`), {
    message: `text must be a string of 1 to ${MAX_TRIAL_LENGTH} characters`,
  })
  text!: string;

  @ApiPropertyOptional({
    ...RULES_PROPERTY,
    description: 'Unstored rules to test instead of those of the account.',
  })
  @MayBeAbsent()
  @IsRuleArray()
  rules?: unknown[];

  @IsGuardrailAction()
  action?: GuardrailAction;

  @ApiPropertyOptional({
    enum: GUARDRAIL_DIRECTIONS,
    default: 'input',
    description: 'Whether the text is a request or a model answer.',
  })
  @MayBeAbsent()
  @IsIn(GUARDRAIL_DIRECTIONS, { message: 'direction must be input or output' })
  direction?: GuardrailDirection;
}

class PlaceDto {
  @ApiProperty({
    type: 'integer',
    example: 9,
    description: 'In UTF-16 code units, as in JavaScript.',
  })
  start!: number;

  @ApiProperty({ type: 'integer', example: 24, description: 'Exclusive.' })
  end!: number;
}

class RuleMatchDto {
  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Null for `rules` in the request.',
  })
  guardrail_id!: string | null;

  @ApiProperty({ type: String, nullable: true, example: 'personal data' })
  guardrail_name!: string | null;

  @ApiProperty({ enum: GUARDRAIL_ACTIONS, example: 'block' })
  action!: GuardrailAction;

  @ApiProperty({ type: 'integer', example: 0, description: 'Index of the rule in `rules`.' })
  rule_index!: number;

  @ApiProperty({ enum: RULE_TYPES, example: 'pii' })
  rule_type!: GuardrailRule['type'];

  @ApiProperty({
    description:
      '`false`: the rule timed out, so the result is unknown. A blocking guardrail then blocks.',
    example: true,
  })
  is_finished!: boolean;

  @ApiProperty({
    type: [PlaceDto],
    description: `Matches, at most ${MAX_PLACES}; none for \`max_length\`.`,
  })
  places!: PlaceDto[];
}

export class GuardrailTestDto {
  @ApiProperty({
    example: true,
    description: 'Whether a request with this text would be rejected.',
  })
  is_blocked!: boolean;

  @ApiProperty({ example: false, description: 'Whether the answer would be flagged.' })
  is_flagged!: boolean;

  @ApiProperty({
    type: [RuleMatchDto],
    description: 'Only rules that match.',
  })
  matches!: RuleMatchDto[];
}
