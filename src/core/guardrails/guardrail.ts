import { PatternFinder, type Finder } from './finder.js';
import type {
  GuardrailAction,
  GuardrailDirection,
  GuardrailRule,
  PersonalData,
  TenantPattern,
} from './guardrail-rule.js';
import { KeywordFinder } from './keyword-finder.js';
import { PERSONAL_DATA_FINDERS } from './personal-data-finder.js';
import type { BillableRequest } from '../../canonical/billable-request.js';
import type { CanonicalRequest } from '../../canonical/canonical-request.js';
import type { GatewayError } from '../../platform/errors/gateway-errors.js';
import type { Caller } from '../access/caller.js';

/**
 * Credentials by the shapes that their issuers gave them, and values assigned to names that say
 * what they are. Every repetition is of one class and bounded where it is followed by another, so
 * the time is linear.
 */
const SHAPES = [
  // Cloud access keys.
  '\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b',
  '\\bAIza[\\w-]{35}(?![\\w-])',
  // API keys that begin with sk, this gateway's own included.
  '\\bsk[-_](?:[A-Za-z0-9]{1,10}[-_]){0,3}[A-Za-z0-9_-]{20,200}',
  '\\b[rp]k_(?:live|test)_[A-Za-z0-9]{20,200}',
  // Source code hosts, package registries, chat and mail services.
  '\\bgh[pousr]_[A-Za-z0-9]{36,255}',
  '\\bgithub_pat_\\w{22,255}',
  '\\bglpat-[\\w-]{20,64}',
  '\\bnpm_[A-Za-z0-9]{36}\\b',
  '\\bxox[abeoprs]-[A-Za-z0-9-]{10,250}',
  '\\bSG\\.[\\w-]{16,32}\\.[\\w-]{16,64}',
  '\\bhf_[A-Za-z0-9]{30,64}\\b',
  // JSON web tokens and private keys.
  '(?<![\\w-])eyJ[\\w-]{8,4000}\\.eyJ[\\w-]{8,4000}\\.[\\w-]{8,1000}',
  '-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY-----',
];

const ASSIGNED =
  '(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)["\']{0,2}\\s{0,4}[:=]\\s{0,4}["\']?[A-Za-z0-9/+_.=-]{12,200}';

/** What finds credentials, for all guardrails. */
const SECRET_FINDERS: readonly Finder[] = [
  new PatternFinder(new RegExp(SHAPES.join('|'))),
  new PatternFinder(new RegExp(`\\b${ASSIGNED}`, 'i')),
];

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
  let looksForSecrets = false;
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
        looksForSecrets = true;
        break;
      case 'max_length':
        maxLength = Math.min(maxLength, rule.max);
    }
  }
  if (looksForSecrets) finders.push(...SECRET_FINDERS);
  if (words.length > 0) finders.push(new KeywordFinder(words));
  for (const entity of entities) finders.push(PERSONAL_DATA_FINDERS[entity]);
  return { id, tenantId, name, action, appliesTo, finders, patterns, maxLength };
}

/** A planned request, as far as guardrails are concerned; routing's plan is one. */
export interface GuardedRequest extends BillableRequest {
  /** Whether a guardrail has marked it; goes into its log row. */
  isFlagged: boolean;
  /** Code points of the answer that came from the vendor and have not been passed on. */
  withheldCharacters: number;
}

/** A guarded request that is text in one of the dialects. */
export interface GuardedTextRequest extends GuardedRequest {
  readonly request: CanonicalRequest;
}

/** Keeps a record of a request that was refused before it cost anything; the ledger is one. */
export interface RefusalLog {
  refuse(caller: Caller, request: BillableRequest, refusal: GatewayError): Promise<void>;
}

/** Is told, whenever there is a new one, which guardrails have flagged the request. */
export type ShowFlags = (guardrailIds: Iterable<string>) => void;
