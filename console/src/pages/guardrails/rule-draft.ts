export const RULE_TYPES = ['keyword', 'regex', 'pii', 'secret', 'max_length'] as const;
export type RuleType = (typeof RULE_TYPES)[number];
export const PERSONAL_DATA = ['email', 'phone', 'credit_card', 'ssn', 'iban', 'ip'] as const;
export type PersonalData = (typeof PERSONAL_DATA)[number];

/** A rule in the API's format. */
export type Rule =
  | { type: 'regex'; pattern: string; flags?: string }
  | { type: 'keyword'; words: string[] }
  | { type: 'pii'; entities: PersonalData[] }
  | { type: 'secret' }
  | { type: 'max_length'; max: number };

/** A rule as form fields. Keeps the fields of other types while the type changes. */
export interface RuleDraft {
  type: RuleType;
  pattern: string;
  flags: string;
  /** One per line. */
  words: string;
  entities: readonly PersonalData[];
  max: string;
}

export const NEW_RULE: RuleDraft = {
  type: 'keyword',
  pattern: '',
  flags: 'i',
  words: '',
  entities: ['email'],
  max: '',
};

export const TYPE_LABEL: Record<RuleType, string> = {
  keyword: 'Words and phrases',
  regex: 'Pattern',
  pii: 'Personal data',
  secret: 'Secrets',
  max_length: 'Length',
};

export const DATA_LABEL: Record<PersonalData, string> = {
  email: 'Email addresses',
  phone: 'Phone numbers',
  credit_card: 'Card numbers',
  ssn: 'US social security numbers',
  iban: 'Account numbers (IBAN)',
  ip: 'IP addresses',
};

export function fromRule(rule: Rule): RuleDraft {
  switch (rule.type) {
    case 'regex':
      return { ...NEW_RULE, type: 'regex', pattern: rule.pattern, flags: rule.flags ?? '' };
    case 'keyword':
      return { ...NEW_RULE, type: 'keyword', words: rule.words.join('\n') };
    case 'pii':
      return { ...NEW_RULE, type: 'pii', entities: rule.entities };
    case 'max_length':
      return { ...NEW_RULE, type: 'max_length', max: String(rule.max) };
    case 'secret':
      return { ...NEW_RULE, type: 'secret' };
  }
}

/** Converts the form to a rule. Invalid values are sent for the API to reject. */
export function toRule({ type, pattern, flags, words, entities, max }: RuleDraft): Rule {
  switch (type) {
    case 'regex':
      return flags === '' ? { type, pattern } : { type, pattern, flags };
    case 'keyword':
      return { type, words: readLines(words) };
    case 'pii':
      return { type, entities: [...entities] };
    case 'max_length':
      return { type, max: Number(max) };
    case 'secret':
      return { type };
  }
}

/** Describes a rule in a few words. */
export function describeRule(rule: Rule): string {
  switch (rule.type) {
    case 'regex':
      return `Pattern /${rule.pattern}/${rule.flags ?? ''}`;
    case 'keyword':
      return `Words: ${firstOf(rule.words, 3)}`;
    case 'pii':
      return firstOf(
        rule.entities.map((entity) => DATA_LABEL[entity]),
        6,
      );
    case 'secret':
      return 'Keys, tokens and passwords';
    case 'max_length':
      return `More than ${rule.max.toLocaleString('en-US')} characters`;
  }
}

function firstOf(texts: readonly string[], count: number): string {
  const remaining = texts.length - count;
  return texts.slice(0, count).join(', ') + (remaining > 0 ? ` and ${remaining} more` : '');
}

function readLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
