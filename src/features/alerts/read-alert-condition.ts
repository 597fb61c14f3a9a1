import type { AlertCondition, AlertKind } from '../../core/alerts/alert.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject } from '../../platform/http/json-body.js';

type Value = AlertCondition[string];

/** A parameter of a condition, with its rule as the end of a sentence. */
interface Figure {
  readonly rule: string;
  /** The default; undefined: required. */
  readonly whenAbsent?: Value | undefined;
  fits(value: unknown): value is Value;
}

const MAX_THRESHOLDS = 10;
const MAX_TEXT = 200;

const integer = (least: number, most: number, whenAbsent?: number): Figure => ({
  rule: `must be an integer between ${least} and ${most}`,
  whenAbsent,
  fits: (value): value is number =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
});
const credits = integer(1, Number.MAX_SAFE_INTEGER);
const text = (rule: string, fitsToo: (value: string) => boolean): Figure => ({
  rule: `${rule}, or null`,
  whenAbsent: null,
  fits: (value): value is string | null =>
    value === null || (typeof value === 'string' && value.length <= MAX_TEXT && fitsToo(value)),
});
const provider = text('must be the id of a provider', (value) => /^[\w.-]{1,64}$/.test(value));

const percent = integer(1, 100);
const THRESHOLDS: Figure = {
  rule: `must be 1 to ${MAX_THRESHOLDS} different integers between 1 and 100`,
  whenAbsent: [50, 80, 100],
  fits: (value): value is number[] =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_THRESHOLDS &&
    new Set(value).size === value.length &&
    value.every((each) => percent.fits(each)),
};

const BUDGET_SCOPES = ['tenant', 'api_key', 'end_user'];

const FIGURES: Readonly<Record<AlertKind, Readonly<Record<string, Figure>>>> = {
  balance_below: { credits },
  budget: {
    thresholds: THRESHOLDS,
    scope: text('must be tenant, api_key or end_user', (value) => BUDGET_SCOPES.includes(value)),
    scope_id: text(
      `must be an id of at most ${MAX_TEXT} characters`,
      (value) => value !== '' && !value.includes('\0') && value.isWellFormed(),
    ),
  },
  vendor_unhealthy: { provider },
  route_paused: { provider },
  error_rate: {
    percent,
    window_minutes: integer(1, 60, 10),
    min_requests: integer(1, 1_000_000, 20),
    provider,
  },
  spend_unusual: { factor: integer(2, 100, 3), floor_credits: credits },
  prices_stale: {},
  prices_differ: {},
};

/** Kinds reserved for operators. */
const OF_OPERATOR: readonly AlertKind[] = ['route_paused', 'prices_stale', 'prices_differ'];
/** Kinds about tenants; an operator alert may select one tenant. */
const OF_TENANTS: readonly AlertKind[] = ['balance_below', 'budget', 'error_rate', 'spend_unusual'];
const TENANT_ID = text('must be the id of a tenant', isUuid);

/**
 * Parses the condition of a rule and fills in defaults.
 *
 * @param options.isOperator whether the rule belongs to the operator and may have a `tenant_id`
 * @throws InvalidRequestError naming the invalid field, such as `condition.credits`
 */
export function readAlertCondition(
  kind: AlertKind,
  received: unknown,
  { isOperator }: { isOperator: boolean },
): AlertCondition {
  if (OF_OPERATOR.includes(kind) && !isOperator) {
    throw new InvalidRequestError('kind', `Only operators can create ${kind} alerts.`);
  }
  const mayChoose = isOperator && OF_TENANTS.includes(kind);
  const figures = { ...FIGURES[kind], ...(mayChoose && { tenant_id: TENANT_ID }) };
  const given = received ?? {};
  if (!isJsonObject(given)) {
    throw new InvalidRequestError('condition', '`condition` must be an object.');
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(figures, name)) continue;
    const param = `condition.${name.slice(0, MAX_TEXT)}`;
    const known = Object.keys(figures).join(', ') || 'none';
    throw new InvalidRequestError(
      param,
      `\`${param}\` is not supported for ${kind}; supported: ${known}.`,
    );
  }
  return Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [name, readFigure(name, figure, given[name])]),
  );
}

function readFigure(name: string, figure: Figure, given: unknown): Value {
  const value = given ?? figure.whenAbsent;
  if (figure.fits(value)) return value;
  throw new InvalidRequestError(`condition.${name}`, `\`condition.${name}\` ${figure.rule}.`);
}
