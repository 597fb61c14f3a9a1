import {
  LEAST_CHARACTERS_OF_WORD,
  MAX_PATTERN_LENGTH,
  MAX_RULE_CHARACTERS,
  MAX_TEXT_LENGTH,
  MAX_WORDS,
  MAX_WORD_LENGTH,
  PERSONAL_DATA,
  RULE_TYPES,
  type GuardrailRule,
  areFlags,
} from '../../../core/guardrails/guardrail-rule.js';
import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';

const FIELDS: Record<GuardrailRule['type'], readonly string[]> = {
  regex: ['type', 'pattern', 'flags'],
  keyword: ['type', 'words'],
  pii: ['type', 'entities'],
  secret: ['type'],
  max_length: ['type', 'max'],
};

/**
 * Validates rules, except whether patterns compile.
 * @throws InvalidRequestError naming the invalid field, such as `rules.0.pattern`
 */
export function readGuardrailRules(rules: readonly unknown[]): GuardrailRule[] {
  const read = rules.map((rule, index) => readRule(rule, `rules.${index}`));
  if (read.reduce((sum, rule) => sum + charactersOf(rule), 0) <= MAX_RULE_CHARACTERS) return read;
  throw new InvalidRequestError(
    'rules',
    `\`rules\` must have at most ${MAX_RULE_CHARACTERS} characters in all patterns and words. Each word counts as at least ${LEAST_CHARACTERS_OF_WORD}.`,
  );
}

function charactersOf(rule: GuardrailRule): number {
  if (rule.type === 'regex') return rule.pattern.length;
  if (rule.type !== 'keyword') return 0;
  return rule.words.reduce((sum, word) => sum + Math.max(word.length, LEAST_CHARACTERS_OF_WORD), 0);
}

function readRule(rule: unknown, path: string): GuardrailRule {
  if (!isJsonObject(rule)) throw new InvalidRequestError(path, `\`${path}\` must be an object.`);
  const type = oneOf(rule.type, RULE_TYPES, `${path}.type`);
  const unknown = Object.keys(rule).find((key) => !FIELDS[type].includes(key));
  if (unknown !== undefined) {
    const name = `${path}.${unknown.slice(0, 100)}`;
    throw new InvalidRequestError(name, `\`${name}\` is not a field of a rule of type "${type}".`);
  }
  switch (type) {
    case 'regex':
      return readRegex(rule, path);
    case 'keyword':
      return { type, words: readWords(rule.words, `${path}.words`) };
    case 'pii': {
      const entities = list(rule.entities, PERSONAL_DATA.length, `${path}.entities`);
      const read = entities.map((entity, index) =>
        oneOf(entity, PERSONAL_DATA, `${path}.entities.${index}`),
      );
      return { type, entities: [...new Set(read)] };
    }
    case 'secret':
      return { type };
    case 'max_length':
      return { type, max: readMax(rule.max, `${path}.max`) };
  }
}

function readRegex({ pattern, flags }: JsonObject, path: string): GuardrailRule {
  if (typeof pattern !== 'string' || pattern === '' || pattern.length > MAX_PATTERN_LENGTH) {
    throw new InvalidRequestError(
      `${path}.pattern`,
      `\`${path}.pattern\` must be a string of 1 to ${MAX_PATTERN_LENGTH} characters.`,
    );
  }
  if (flags === undefined) return { type: 'regex', pattern };
  if (typeof flags !== 'string' || !areFlags(flags)) {
    throw new InvalidRequestError(
      `${path}.flags`,
      `\`${path}.flags\` may hold i (any case), m (lines) and s (dot matches newlines), each once.`,
    );
  }
  return { type: 'regex', pattern, flags };
}

function readWords(words: unknown, path: string): string[] {
  return list(words, MAX_WORDS, path).map((word, index) => {
    if (typeof word === 'string' && word.trim() !== '' && word.length <= MAX_WORD_LENGTH) {
      return word;
    }
    throw new InvalidRequestError(
      `${path}.${index}`,
      `\`${path}.${index}\` must be a word or phrase of 1 to ${MAX_WORD_LENGTH} characters.`,
    );
  });
}

function readMax(max: unknown, path: string): number {
  const isWhole = typeof max === 'number' && Number.isInteger(max);
  if (isWhole && max >= 1 && max <= MAX_TEXT_LENGTH) return max;
  throw new InvalidRequestError(
    path,
    `\`${path}\` must be an integer from 1 to ${MAX_TEXT_LENGTH}, in characters.`,
  );
}

function list(value: unknown, max: number, path: string): unknown[] {
  if (Array.isArray(value) && value.length > 0 && value.length <= max) return value;
  throw new InvalidRequestError(path, `\`${path}\` must be an array of 1 to ${max} items.`);
}

function oneOf<Name extends string>(value: unknown, names: readonly Name[], path: string): Name {
  const name = names.find((each) => each === value);
  if (name !== undefined) return name;
  throw new InvalidRequestError(
    path,
    `\`${path}\` must be one of ${names.map((each) => `"${each}"`).join(', ')}.`,
  );
}
