const SHORTEST_KEY = 16;
const LONGEST_KEY = 512;

/** What a key given by the operator must look like, for messages. */
export const OPERATOR_KEY_RULES = {
  routing: 'must start with "sk-" (not "sk-mgmt-") and have 16 to 512 visible ASCII characters',
  management: 'must start with "sk-mgmt-" and have 16 to 512 visible ASCII characters',
} as const;

/**
 * Whether the operator may declare this key. Behind its prefix it is free-form, but it has to fit
 * in an HTTP header: printable ASCII, without a space at its end.
 */
export function isOperatorKey(type: keyof typeof OPERATOR_KEY_RULES, key: string): boolean {
  if (key.length < SHORTEST_KEY || key.length > LONGEST_KEY) return false;
  if (!/^[\x20-\x7e]*[\x21-\x7e]$/.test(key)) return false;
  const isManagement = key.startsWith('sk-mgmt-');
  return type === 'management' ? isManagement : key.startsWith('sk-') && !isManagement;
}
