import type { Type } from '@nestjs/common';
import {
  EnumField,
  IntegerField,
  StringField,
  UuidField,
  type FieldDecorator,
  type FieldOptions,
} from '../../platform/http/field.decorators.js';
import { AnyObjectField, IntegerListField } from '../../platform/http/nested-field.decorators.js';
import type { AlertCondition, AlertKind } from '../../core/alerts/alert.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { readDto } from '../../platform/http/strict-validation.pipe.js';

const PROVIDER = {
  nullable: true,
  default: null,
  pattern: /^[\w.-]{1,64}$/,
  description: 'Id of a provider; null for all.',
  message: 'must be the id of a provider, or null',
} as const;

const MAX = Number.MAX_SAFE_INTEGER;

/** A condition about tenants. */
abstract class TenantConditionDto {
  @UuidField({
    optional: true,
    nullable: true,
    description: 'For operators: the tenant; null for all.',
    message: 'must be the id of a tenant, or null',
  })
  tenant_id?: string | null;
}

class BalanceConditionDto extends TenantConditionDto {
  @IntegerField({ minimum: 1, maximum: MAX, example: 5_000_000 })
  credits!: number;
}

class BudgetConditionDto extends TenantConditionDto {
  @IntegerListField(
    { minimum: 1, maximum: 100 },
    {
      minItems: 1,
      maxItems: 10,
      uniqueItems: true,
      default: [50, 80, 100],
      description: 'In percent.',
    },
  )
  thresholds: number[] = [50, 80, 100];

  @EnumField(['tenant', 'api_key', 'end_user'], { nullable: true, default: null })
  scope: 'tenant' | 'api_key' | 'end_user' | null = null;

  @StringField({
    nullable: true,
    default: null,
    minLength: 1,
    maxLength: 200,
    pattern: /^[^\0\p{Surrogate}]*$/u,
    description: 'Id of the tenant, key or end user; null for all.',
    message: 'must be an id of at most 200 characters, or null',
  })
  scope_id: string | null = null;
}

class ProviderConditionDto {
  @StringField(PROVIDER)
  provider: string | null = null;
}

class ErrorRateConditionDto extends TenantConditionDto {
  @IntegerField({ minimum: 1, maximum: 100 })
  percent!: number;

  @IntegerField({ minimum: 1, maximum: 60, default: 10 })
  window_minutes: number = 10;

  @IntegerField({ minimum: 1, maximum: 1_000_000, default: 20 })
  min_requests: number = 20;

  @StringField(PROVIDER)
  provider: string | null = null;
}

class SpendConditionDto extends TenantConditionDto {
  @IntegerField({ minimum: 2, maximum: 100, default: 3 })
  factor: number = 3;

  @IntegerField({ minimum: 1, maximum: MAX })
  floor_credits!: number;
}

class PriceConditionDto {}

const CONDITIONS: Readonly<Record<AlertKind, Type<object>>> = {
  balance_below: BalanceConditionDto,
  budget: BudgetConditionDto,
  vendor_unhealthy: ProviderConditionDto,
  route_paused: ProviderConditionDto,
  error_rate: ErrorRateConditionDto,
  spend_unusual: SpendConditionDto,
  prices_stale: PriceConditionDto,
  prices_differ: PriceConditionDto,
};

/** Kinds of operators' alerts. */
const OF_OPERATOR: readonly AlertKind[] = ['route_paused', 'prices_stale', 'prices_differ'];

/** A condition of any kind. Which one it must be depends on the `kind` of the alert: see `readAlertCondition`. */
export function ConditionField<const Options extends FieldOptions>(
  options?: Options,
): FieldDecorator<object, Options> {
  return AnyObjectField([...new Set(Object.values(CONDITIONS))], {
    description: 'By `kind`; docs/alerts.md describes each.',
    example: { credits: 5_000_000 },
    ...options,
  } as unknown as Options);
}

/**
 * Returns the condition of a rule with its defaults.
 *
 * @param received null members count as absent
 * @throws InvalidRequestError naming the invalid field, such as `condition.credits`
 */
export function readAlertCondition(
  kind: AlertKind,
  received: unknown,
  { isOperator }: { isOperator: boolean },
): AlertCondition {
  if (OF_OPERATOR.includes(kind) && !isOperator) {
    throw new InvalidRequestError('kind', `Only operators can create alerts of the kind ${kind}.`);
  }
  const given = isJsonObject(received) ? received : {};
  if (!isOperator && Object.hasOwn(given, 'tenant_id')) {
    const param = 'condition.tenant_id';
    throw new InvalidRequestError(param, `\`${param}\` is for operators only.`);
  }
  const present = Object.entries(given).filter(([, value]) => value !== null);
  const condition = readDto(CONDITIONS[kind], Object.fromEntries(present), 'condition');
  const isAboutTenants = isOperator && condition instanceof TenantConditionDto;
  return { ...(isAboutTenants && { tenant_id: null }), ...condition };
}
