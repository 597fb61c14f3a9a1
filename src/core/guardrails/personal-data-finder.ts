import { isIP } from 'node:net';
import { findIban } from './find-iban.js';
import { PatternFinder, type Finder, type Span } from './finder.js';
import type { PersonalData } from './guardrail-rule.js';

const EMAIL =
  /(?<![a-z0-9._%+-])[a-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![a-z0-9])/i;
const SSN = /(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?!-?\d)/;
/** International with its plus; North American; or with a leading zero, as at home in many countries. */
const PHONE =
  /(?<![\w+.-])(?:\+\d{1,3}[ ./-]?(?:\(\d{1,4}\)[ ./-]?)?\d{1,5}(?:[ ./-]?\d{1,5}){1,5}|(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}|\(?0\d{1,4}\)?(?:[ ./-]?\d{2,8}){1,4})(?![\w-]|\.\d)/;
const CARD = /(?<![\d.])[2-6]\d{3}(?:[ -]?\d){9,40}(?!\d)/;
const IP =
  /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d|\w)|(?<![\w.:])(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?(?![\w:])/i;
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/;

/** Finds one kind of personal data. */
export function personalDataFinder(kind: PersonalData): Finder {
  switch (kind) {
    case 'email':
      return new PatternFinder(EMAIL);
    case 'phone':
      return new PatternFinder(PHONE, whole(isPhone));
    case 'credit_card':
      return new PatternFinder(CARD, findCard);
    case 'ssn':
      return new PatternFinder(SSN);
    case 'iban':
      return new PatternFinder(IBAN, findIban);
    case 'ip':
      return new PatternFinder(IP, whole(isAddress));
  }
}

function whole(isReal: (match: string) => boolean) {
  return (match: string, _text: string, start: number): Span | undefined =>
    isReal(match) ? { start, end: start + match.length } : undefined;
}

function isPhone(match: string): boolean {
  const digits = match.replace(/\D/g, '').length;
  return digits >= (match.startsWith('+') ? 8 : 9) && digits <= 15;
}

/** `::` alone is punctuation rather than anybody's address. */
function isAddress(match: string): boolean {
  return isIP(match) !== 0 && match.length > 3;
}

/** A number of 13 to 19 digits, in groups or not, whose check digit is right. */
function findCard(match: string, _text: string, start: number): Span | undefined {
  const groups = [...match.matchAll(/\d+/g)];
  for (let first = 0; first < groups.length; first++) {
    let digits = '';
    for (let last = first; last < groups.length && digits.length < 19; last++) {
      const group = groups[last]!;
      digits += group[0];
      if (digits.length < 13 || digits.length > 19 || !/^[2-6]/.test(digits)) continue;
      if (!passesLuhn(digits)) continue;
      return {
        start: start + groups[first]!.index,
        end: start + group.index + group[0].length,
      };
    }
  }
  return undefined;
}

/** @param digits nothing but digits */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
