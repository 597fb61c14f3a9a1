import type { Finder } from './finder.js';
import type {
  GuardrailAction,
  GuardrailDirection,
  GuardrailRule,
  PersonalData,
} from './guardrail-rule.js';
import { KeywordFinder } from './keyword-finder.js';
import { personalDataFinder } from './personal-data-finder.js';
import { secretFinders } from './secret-finder.js';
import type { TenantPattern } from './tenant-pattern.js';

/** A guardrail that is on, ready to look at texts. */
export interface Guardrail {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly action: GuardrailAction;
  readonly appliesTo: readonly GuardrailDirection[];
  readonly finders: readonly Finder[];
  readonly patterns: readonly TenantPattern[];
  /** Characters beyond which a text is too long. */
  readonly maxLength: number;
}

/** A guardrail as the table has it, as far as looking at texts goes. */
export interface GuardrailDefinition {
  id: string;
  tenantId: string;
  revision: number;
  name: string;
  action: GuardrailAction;
  appliesTo: GuardrailDirection[];
  rules: GuardrailRule[];
  /** Program sizes of the `regex` rules, in their order. */
  patternSizes: number[];
}

export function toGuardrail(definition: GuardrailDefinition): Guardrail {
  const { id, tenantId, name, action, appliesTo, rules, patternSizes } = definition;
  const words: string[] = [];
  const entities = new Set<PersonalData>();
  const finders: Finder[] = [];
  const patterns: TenantPattern[] = [];
  let maxLength = Infinity;
  for (const rule of rules) {
    switch (rule.type) {
      case 'regex': {
        const size = patternSizes[patterns.length] ?? Infinity;
        patterns.push({ pattern: rule.pattern, flags: rule.flags ?? '', size });
        break;
      }
      case 'keyword':
        words.push(...rule.words);
        break;
      case 'pii':
        for (const entity of rule.entities) entities.add(entity);
        break;
      case 'secret':
        finders.push(...secretFinders());
        break;
      case 'max_length':
        maxLength = Math.min(maxLength, rule.max);
    }
  }
  if (words.length > 0) finders.push(new KeywordFinder(words));
  for (const entity of entities) finders.push(personalDataFinder(entity));
  return { id, tenantId, name, action, appliesTo, finders, patterns, maxLength };
}
