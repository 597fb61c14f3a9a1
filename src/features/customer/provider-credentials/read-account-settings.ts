import { InvalidRequestError } from '../../../platform/errors/gateway-errors.js';
import type { AccountRules, ByokAccountForm } from '../../../vendors/vendor.js';

/**
 * The settings of an account, as its provider needs them. A null counts as left out.
 *
 * @throws InvalidRequestError naming the field at fault, such as `settings.region`
 */
export function readAccountSettings(
  { settings: fields }: ByokAccountForm,
  given: Readonly<Record<string, unknown>>,
  rules: AccountRules,
): Record<string, string> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) {
    const path = `settings.${unknown.slice(0, 100)}`;
    throw new InvalidRequestError(path, `\`${path}\` is no setting of this provider.`);
  }
  const settings: Record<string, string> = {};
  for (const [name, field] of Object.entries(fields)) {
    const path = `settings.${name}`;
    const value = given[name] ?? undefined;
    if (value === undefined) {
      if (!field.isRequired) continue;
      throw new InvalidRequestError(path, `\`${path}\` is required. ${field.description}`);
    }
    const fault = typeof value === 'string' ? field.faultOf(value, rules) : 'must be a string';
    if (fault !== undefined) throw new InvalidRequestError(path, `\`${path}\` ${fault}.`);
    settings[name] = value as string;
  }
  return settings;
}
