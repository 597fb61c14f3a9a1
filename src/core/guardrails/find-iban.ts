import type { Span } from './finder.js';

/** How long an account number is in each country that has them. */
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

/** The account number that a match begins with, if its length and its check digits are right. */
export function findIban(match: string, text: string, start: number): Span | undefined {
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

/** ISO 7064: the number with its head moved to the end, letters as 10 to 35, is 1 modulo 97. */
function hasRightCheckDigits(characters: string): boolean {
  const moved = characters.slice(4) + characters.slice(0, 4);
  let remainder = 0;
  for (const character of moved) {
    const value = parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1;
}
