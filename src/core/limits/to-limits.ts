import {
  RATE_LIMITS,
  strictestBudgets,
  strictestRates,
  type Limits,
  type NameList,
  type RateLimit,
} from '../../canonical/limits.js';
import { PermissionError } from '../../platform/errors/gateway-errors.js';
import type { LimitsDto } from './limits.dto.js';

/** Returns limits as they are stored; null when they limit nothing. */
export function toLimits({ budgets, models, providers, ...rates }: LimitsDto): Limits | null {
  const [modelNames, providerNames] = [models, providers].map(toNames);
  const given = RATE_LIMITS.flatMap((rate) => {
    const limit = rates[rate];
    return limit == null ? [] : [[rate, limit] as const];
  });
  const limits: Limits = {
    ...(budgets?.length && {
      budgets: budgets.map(({ period, credits }) => ({ period, credits })),
    }),
    ...Object.fromEntries(given),
    ...(modelNames && { models: modelNames }),
    ...(providerNames && { providers: providerNames }),
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
  throw new PermissionError(`\`${param}\` may not be above ${most}, which is ${whose}.`, param);
}

function toNames(names: LimitsDto['models']): NameList | undefined {
  const { allow, deny } = { ...names };
  if (!allow && !deny?.length) return undefined;
  return { ...(allow && { allow }), ...(deny?.length && { deny }) };
}
