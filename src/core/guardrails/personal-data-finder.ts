import { isIP } from 'node:net';
import { PatternFinder, type Finder, type Span } from './finder.js';
import type { PersonalData } from './guardrail-rule.js';

/** IBAN length by country. */
const LENGTHS = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 ' +
    'EE20 EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 ' +
    'IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 ' +
    'NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 ' +
    'TN24 TR26 UA29 VA22 VG24 XK20'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const EMAIL =
  /(?<![a-z0-9._%+-])[a-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![a-z0-9])/i;
const SSN = /(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?!-?\d)/;
/**
 * International with a plus, North American, or national with a leading zero. Requires a separator
 * between groups of digits: with an optional one, a run of digits could be grouped in thousands of
 * ways.
 */
const PHONE =
  /(?<![\w+.-])(?:\+(?:\d{1,3}[ ./-]?\(\d{1,4}\)[ ./-]?)?\d{1,15}(?:[ ./-]\d{1,15}){0,8}|(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}|\(?0\d{1,14}(?:\)[ ./-]?\d{2,14})?(?:[ ./-]\d{2,14}){0,4})(?![\w-]|\.\d)/;
const CARD = /(?<![\d.])[2-6]\d{3}(?:[ -]?\d){9,40}(?!\d)/;
const IP =
  /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\.?\d|\w)|(?<![\w.:])(?:[0-9a-f]{0,4}:){2,7}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?(?![\w:])/i;
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}/;

/** Finders of personal data, shared by all guardrails. */
export const PERSONAL_DATA_FINDERS: Readonly<Record<PersonalData, Finder>> = {
  email: new PatternFinder(EMAIL),
  phone: new PatternFinder(PHONE, findPhone),
  credit_card: new PatternFinder(CARD, findCard),
  ssn: new PatternFinder(SSN),
  iban: new PatternFinder(IBAN, findIban),
  ip: new PatternFinder(IP, whole(isAddress)),
};

function whole(isReal: (match: string) => boolean) {
  return (match: string, _text: string, start: number): Span | undefined =>
    isReal(match) ? { start, end: start + match.length } : undefined;
}

/**
 * Returns a number of at most 15 digits; an international one may be followed by other numbers,
 * such as a date.
 */
function findPhone(match: string, _text: string, start: number): Span | undefined {
  const isInternational = match.startsWith('+');
  for (let end = match.length; end > 0; end = match.lastIndexOf(' ', end - 1)) {
    const digits = match.slice(0, end).replace(/\D/g, '').length;
    if (digits < (isInternational ? 8 : 9)) return undefined;
    if (digits <= 15) return { start, end: start + end };
    if (!isInternational) return undefined;
  }
  return undefined;
}

/** Rejects `::` alone, which is punctuation. */
function isAddress(match: string): boolean {
  return isIP(match) !== 0 && match.length > 3;
}

/** Returns a number of 13 to 19 digits, grouped or not, with a valid check digit. */
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

/**
 * @param digits nothing but digits
 */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Returns the IBAN at the start of a match, if its length and check digits are valid. */
function findIban(match: string, text: string, start: number): Span | undefined {
  const length = LENGTHS.get(match.slice(0, 2));
  if (length === undefined) return undefined;
  let characters = '';
  let taken = 0;
  while (taken < match.length && characters.length < length) {
    if (match[taken] !== ' ') characters += match[taken];
    taken++;
  }
  const end = start + taken;
  if (characters.length < length || /^[A-Za-z0-9]/.test(text.slice(end, end + 1))) return undefined;
  return hasRightCheckDigits(characters) ? { start, end } : undefined;
}

/** ISO 7064: the rearranged number, with letters as 10 to 35, must be 1 modulo 97. */
function hasRightCheckDigits(characters: string): boolean {
  const moved = characters.slice(4) + characters.slice(0, 4);
  let remainder = 0;
  for (const character of moved) {
    const value = parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}
