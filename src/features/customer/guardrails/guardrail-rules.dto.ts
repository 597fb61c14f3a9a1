import {
  LEAST_CHARACTERS_OF_WORD,
  MAX_PATTERN_LENGTH,
  MAX_RULES,
  MAX_RULE_CHARACTERS,
  MAX_TEXT_LENGTH,
  MAX_WORDS,
  MAX_WORD_LENGTH,
  PERSONAL_DATA,
  type GuardrailRule,
  type PersonalData,
} from '../../../core/guardrails/guardrail-rule.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import {
  EnumField,
  IntegerField,
  StringField,
  type FieldDecorator,
} from '../../../platform/http/field.decorators.js';
import {
  EnumListField,
  StringListField,
  VariantListField,
  type ListOptions,
} from '../../../platform/http/nested-field.decorators.js';

class RegexRuleDto {
  @EnumField(['regex'])
  type!: 'regex';

  @StringField({ minLength: 1, maxLength: MAX_PATTERN_LENGTH, description: 'RE2 syntax.' })
  pattern!: string;

  @StringField({
    optional: true,
    pattern: /^(?!.*(.).*\1)[ims]{0,3}$/,
    description: 'Any of `i` (any case), `m` (lines), `s` (dot matches newlines), each once.',
    message: 'must consist of i, m and s, each at most once',
  })
  flags?: string;
}

class KeywordRuleDto {
  @EnumField(['keyword'])
  type!: 'keyword';

  @StringListField({
    minItems: 1,
    maxItems: MAX_WORDS,
    namesItem: true,
    item: { minLength: 1, maxLength: MAX_WORD_LENGTH, pattern: /\S/ },
    description: 'Whole words or phrases, case-insensitive.',
  })
  words!: string[];
}

class PiiRuleDto {
  @EnumField(['pii'])
  type!: 'pii';

  @EnumListField(PERSONAL_DATA, { minItems: 1, maxItems: PERSONAL_DATA.length, namesItem: true })
  entities!: PersonalData[];
}

class SecretRuleDto {
  @EnumField(['secret'])
  type!: 'secret';
}

class MaxLengthRuleDto {
  @EnumField(['max_length'])
  type!: 'max_length';

  @IntegerField({ minimum: 1, maximum: MAX_TEXT_LENGTH, description: 'Characters.' })
  max!: number;
}

export type GuardrailRuleDto =
  | RegexRuleDto
  | KeywordRuleDto
  | PiiRuleDto
  | SecretRuleDto
  | MaxLengthRuleDto;

const RULES = {
  regex: RegexRuleDto,
  keyword: KeywordRuleDto,
  pii: PiiRuleDto,
  secret: SecretRuleDto,
  max_length: MaxLengthRuleDto,
} as const satisfies Record<GuardrailRule['type'], unknown>;

/** The rules of a guardrail. */
export function RulesField<const Options extends ListOptions>(
  options?: Options,
): FieldDecorator<readonly GuardrailRuleDto[], Options> {
  return VariantListField('type', RULES, {
    minItems: 1,
    maxItems: MAX_RULES,
    description: 'The guardrail triggers when any rule matches.',
    example: [{ type: 'regex', pattern: 'project\\s+falcon', flags: 'i' }],
    ...options,
  } as unknown as Options);
}

/**
 * Returns rules as they are stored.
 *
 * @throws InvalidRequestError when they are too long in total
 */
export function toGuardrailRules(rules: readonly GuardrailRuleDto[]): GuardrailRule[] {
  if (rules.reduce((sum, rule) => sum + charactersOf(rule), 0) > MAX_RULE_CHARACTERS) {
    throw new InvalidRequestError(
      'rules',
      `\`rules\` must have at most ${MAX_RULE_CHARACTERS} characters in all patterns and words. Each word counts as at least ${LEAST_CHARACTERS_OF_WORD}.`,
    );
  }
  return rules.map((rule) =>
    rule.type === 'pii' ? { ...rule, entities: [...new Set(rule.entities)] } : { ...rule },
  );
}

function charactersOf(rule: GuardrailRuleDto): number {
  if (rule.type === 'regex') return rule.pattern.length;
  if (rule.type !== 'keyword') return 0;
  return rule.words.reduce((sum, word) => sum + Math.max(word.length, LEAST_CHARACTERS_OF_WORD), 0);
}
