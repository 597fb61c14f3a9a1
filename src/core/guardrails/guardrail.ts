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
 * Credential patterns by issuer format, and values assigned to telling names. Linear time: every
 * repetition is of one class, and bounded if another follows.
 */
const SHAPES = [
  '\\b(?:AKIA|ASIA)[A-Z0-9]{16}\\b',
  '\\bAIza[\\w-]{35}(?![\\w-])',
  // API keys starting with sk, including this gateway's.
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

/** Shared by all guardrails. */
const SECRET_FINDERS: readonly Finder[] = [
  new PatternFinder(new RegExp(SHAPES.join('|'))),
  new PatternFinder(new RegExp(`\\b${ASSIGNED}`, 'i')),
];

/** An enabled guardrail, compiled. */
export interface Guardrail {
  readonly id: string;
  readonly tenantId: string;
  readonly name: string;
  readonly action: GuardrailAction;
  readonly appliesTo: readonly GuardrailDirection[];
  readonly finders: readonly Finder[];
  readonly patterns: readonly TenantPattern[];
  /** Longest allowed text, in characters. */
  readonly maxLength: number;
}

/** The stored fields that scanning needs. */
export interface GuardrailDefinition {
  id: string;
  tenantId: string;
  revision: number;
  name: string;
  action: GuardrailAction;
  appliesTo: GuardrailDirection[];
  rules: GuardrailRule[];
  /** Program sizes of the `regex` rules, in order. */
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

/** The part of a planned request that guardrails need; implemented by routing's plan. */
export interface GuardedRequest extends BillableRequest {
  /** Set when a guardrail flags the request; stored in its log row. */
  isFlagged: boolean;
  /** Code points of the vendor's answer that have not been passed on. */
  withheldCharacters: number;
}

/** A guarded request with text in one of the dialects. */
export interface GuardedTextRequest extends GuardedRequest {
  readonly request: CanonicalRequest;
}

/** Logs a request refused before it cost anything; implemented by the ledger. */
export interface RefusalLog {
  refuse(caller: Caller, request: BillableRequest, refusal: GatewayError): Promise<void>;
}

/** Called with all flagging guardrails whenever one is added. */
export type ShowFlags = (guardrailIds: Iterable<string>) => void;
