/** Fields of a request for media that are the gateway's own, or that are read into the canonical form. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'provider',
  'route',
  'trace',
  'metadata',
  'webhook_url',
  'transforms',
  'plugins',
  'usage',
  'prompt',
  'input',
  // Whether the caller gets files or addresses of them, which is the gateway's affair.
  'response_format',
  'stream',
]);

/** The fields that are meant for the vendor, in the caller's words and order. */
export function vendorFields(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).filter(([name, field]) => !OWN_FIELDS.has(name) && field != null);
}

/** Names of the vendor's fields that are none of the `known` ones. */
export function unknownFields(
  value: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
): string[] {
  return vendorFields(value)
    .map(([name]) => name)
    .filter((name) => !known.has(name));
}
