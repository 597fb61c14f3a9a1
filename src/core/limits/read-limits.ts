import {
  BUDGET_PERIODS,
  RATE_LIMITS,
  strictestBudgets,
  strictestRates,
  type Budget,
  type Limits,
  type NameList,
  type RateLimit,
} from '../../canonical/limits.js';
import { InvalidRequestError, PermissionError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject } from '../../platform/http/json-body.js';

const FIELDS: readonly string[] = ['budgets', ...RATE_LIMITS, 'models', 'providers'];
const MAX_NAMES = 100;
/** Longest name of a model or provider, wildcards included. */
const NAME = /^[\x21-\x7e]{1,256}$/;

/**
 * Parses the limits in a body; null when they limit nothing.
 *
 * @param path of the field, with a trailing dot; empty for a whole body
 * @throws InvalidRequestError naming the invalid field, such as `limits.budgets.0.credits`
 */
export function readLimits(value: unknown, path: string): Limits | null {
  if (!isJsonObject(value)) refuse(path.slice(0, -1), 'must be an object or null');
  refuseOthers(value, FIELDS, path);
  const budgets = value.budgets == null ? [] : readBudgets(value.budgets, `${path}budgets`);
  const models = readNames(value.models, `${path}models`);
  const providers = readNames(value.providers, `${path}providers`);
  const rates = RATE_LIMITS.flatMap((rate) => {
    const read = value[rate];
    if (read == null) return [];
    return [[rate, readInteger(read, 1, path + rate)] as const];
  });
  const limits: Limits = {
    ...(budgets.length > 0 && { budgets }),
    ...Object.fromEntries(rates),
    ...(models && { models }),
    ...(providers && { providers }),
  };
  return Object.keys(limits).length > 0 ? limits : null;
}

/**
 * Rejects limits above the granter's own. Name lists need no check, since the granter's apply as
 * well.
 *
 * @param bounds the granter's limits
 * @param whose owner of the bounds, to end a sentence
 * @throws PermissionError naming the limit that is too high
 */
export function refuseMore(
  wanted: Limits | null,
  bounds: readonly Pick<Limits, 'budgets' | RateLimit>[],
  path: string,
  whose: string,
): void {
  if (!wanted) return;
  for (const { period, credits } of strictestBudgets(bounds)) {
    const given = wanted.budgets?.find((budget) => budget.period === period);
    if (given && given.credits > credits) {
      const most = `${credits} credits (${period})`;
      tooMuch(`${path}budgets.${period}`, most, whose);
    }
  }
  const most = strictestRates(bounds);
  for (const rate of RATE_LIMITS) {
    if ((wanted[rate] ?? 0) > (most[rate] ?? Infinity)) {
      tooMuch(path + rate, String(most[rate]), whose);
    }
  }
}

function tooMuch(param: string, most: string, whose: string): never {
  throw new PermissionError(`\`${param}\` must not exceed ${most}, which is ${whose}.`, param);
}

function readBudgets(value: unknown, path: string): Budget[] {
  if (!Array.isArray(value)) refuse(path, 'must be an array');
  if (value.length > BUDGET_PERIODS.length) refuse(path, 'must contain each period at most once');
  const budgets = value.map((each: unknown, index) => readBudget(each, `${path}.${index}`));
  if (new Set(budgets.map(({ period }) => period)).size < budgets.length) {
    refuse(path, 'must contain each period at most once');
  }
  return budgets;
}

function readBudget(value: unknown, path: string): Budget {
  if (!isJsonObject(value)) refuse(path, 'must be an object with period and credits');
  refuseOthers(value, ['period', 'credits'], `${path}.`);
  const period = BUDGET_PERIODS.find((each) => each === value.period);
  if (!period) refuse(`${path}.period`, `must be one of ${BUDGET_PERIODS.join(', ')}`);
  return { period, credits: readInteger(value.credits, 0, `${path}.credits`) };
}

function readNames(value: unknown, path: string): NameList | undefined {
  if (value == null) return undefined;
  if (!isJsonObject(value)) refuse(path, 'must be an object with allow and deny, or null');
  refuseOthers(value, ['allow', 'deny'], `${path}.`);
  const [allow, deny] = [value.allow, value.deny].map((names, index) => {
    const field = `${path}.${index === 0 ? 'allow' : 'deny'}`;
    if (names == null) return undefined;
    const isList =
      Array.isArray(names) &&
      names.length <= MAX_NAMES &&
      names.every((name): name is string => typeof name === 'string' && NAME.test(name));
    if (isList) return names;
    refuse(field, `must be an array of at most ${MAX_NAMES} names of up to 256 characters`);
  });
  if (!allow && !deny?.length) return undefined;
  return { ...(allow && { allow }), ...(deny?.length && { deny }) };
}

function readInteger(value: unknown, least: number, path: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least) return value;
  refuse(path, `must be an integer from ${least} to ${Number.MAX_SAFE_INTEGER}`);
}

function refuseOthers(value: object, fields: readonly string[], path: string): void {
  const other = Object.keys(value).find((name) => !fields.includes(name));
  if (other !== undefined) refuse(path + other.slice(0, 100), 'is not a known field');
}

function refuse(param: string, fault: string): never {
  throw new InvalidRequestError(param, `\`${param}\` ${fault}.`);
}
