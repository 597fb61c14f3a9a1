import { PatternFinder, type Finder } from './finder.js';

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
  '\\beyJ[\\w-]{8,4000}\\.eyJ[\\w-]{8,4000}\\.[\\w-]{8,1000}',
  '-----BEGIN (?:[A-Z]{2,10} ){0,3}PRIVATE KEY-----',
];
const ASSIGNED =
  '(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|secret[_-]?key|password|passwd)["\']{0,2}\\s{0,4}[:=]\\s{0,4}["\']?[A-Za-z0-9/+_.=-]{12,200}';

/** Finds credentials. */
export function secretFinders(): Finder[] {
  return [
    new PatternFinder(new RegExp(SHAPES.join('|'))),
    new PatternFinder(new RegExp(`\\b${ASSIGNED}`, 'i')),
  ];
}
