import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsName, MayBeAbsent } from '../../../../platform/http/field.decorators.js';
import type {
  GuardrailAction,
  GuardrailDirection,
} from '../../../../core/guardrails/guardrail-rule.js';
import {
  IsDirectionArray,
  IsEnabledFlag,
  IsGuardrailAction,
  IsGuardrailDescription,
  IsRuleArray,
  RULES_PROPERTY,
} from './guardrail-fields.decorators.js';

/** What is left out stays as it is; `rules` are replaced as a whole. */
export class UpdateGuardrailDto {
  @ApiPropertyOptional({ minLength: 1, maxLength: 255, example: 'no project names' })
  @MayBeAbsent()
  @IsName()
  name?: string;

  @IsGuardrailDescription()
  description?: string | null;

  @ApiPropertyOptional(RULES_PROPERTY)
  @MayBeAbsent()
  @IsRuleArray()
  rules?: unknown[];

  @IsGuardrailAction()
  action?: GuardrailAction;

  @IsDirectionArray()
  applies_to?: GuardrailDirection[];

  @IsEnabledFlag()
  is_enabled?: boolean;
}
