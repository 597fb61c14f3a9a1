import { ScopeDto } from '../../../core/access/scope.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  MapField,
  StringField,
  UuidField,
  type FieldDecorator,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { KeyCheckDto } from '../../../core/credentials/account-check.dto.js';
import { DeletedDto } from '../../../platform/http/deleted.dto.js';

const MAX_WEIGHT = 1_000;
const MAX_PER_MINUTE = 1_000_000_000;

const WEIGHT =
  "Share of requests relative to the sum over the tenant's accounts with the provider. Defaults to 1. " +
  'When no account has a weight or limit, the newest is tried first.';
const REQUESTS = "The vendor's limit of requests per minute. Defaults to unlimited.";
const TOKENS = "The vendor's limit of tokens per minute, input plus output. Defaults to unlimited.";

/** Null counts as absent. */
function ShareField(
  maximum: number,
  description: string,
  example: number,
): FieldDecorator<number, { readonly optional: true; readonly nullable: true }> {
  return IntegerField({
    optional: true,
    nullable: true,
    minimum: 1,
    maximum,
    description,
    example,
  });
}

/** An account. Required settings depend on the provider and are checked by the service. */
export class TestProviderCredentialDto {
  @StringField({
    description: 'Id of the provider.',
    example: 'a-provider',
    message: 'must be the id of a provider',
  })
  provider!: string;

  @StringField({
    description: 'Key of the account. Stored encrypted and never shown again.',
    message: 'must be a string',
  })
  key!: string;

  @MapField(
    { type: 'string' },
    { optional: true, description: 'Provider-specific settings. Most providers need none.' },
  )
  settings?: Record<string, unknown>;
}

export class CreateProviderCredentialDto extends TestProviderCredentialDto {
  @StringField({ optional: true, nullable: true, minLength: 1, maxLength: 255 })
  name?: string | null;

  @BooleanField({
    default: false,
    description: 'Whether to fall back to shared capacity, at its price.',
  })
  allow_shared_fallback?: boolean;

  @BooleanField({
    optional: true,
    description:
      'Whether to check the key with a free vendor call within 10 s first. A rejected key is ' +
      'not stored. Defaults to `GATEWAY_CHECK_KEYS`, usually true.',
    example: true,
  })
  check?: boolean;

  @ShareField(MAX_WEIGHT, WEIGHT, 3)
  weight?: number | null;

  @ShareField(MAX_PER_MINUTE, REQUESTS, 500)
  requests_per_minute?: number | null;

  @ShareField(MAX_PER_MINUTE, TOKENS, 200_000)
  tokens_per_minute?: number | null;
}

/** `check` as a query parameter. */
export class CheckKeyQueryDto {
  @EnumField(['true', 'false'], { optional: true, description: 'Same as `check` in the body.' })
  check?: 'true' | 'false';
}

/** How requests are spread. Absent fields keep their values; null clears them. */
export class UpdateProviderCredentialDto {
  @ShareField(MAX_WEIGHT, WEIGHT, 3)
  weight?: number | null;

  @ShareField(MAX_PER_MINUTE, REQUESTS, 500)
  requests_per_minute?: number | null;

  @ShareField(MAX_PER_MINUTE, TOKENS, 200_000)
  tokens_per_minute?: number | null;
}

/** A BYOK account without its key. */
export class ProviderCredentialDto {
  @UuidField()
  id!: string;

  @StringField({ example: 'a-provider' })
  provider!: string;

  @StringField({ nullable: true })
  name!: string | null;

  @StringField({ description: 'Masked key, to tell keys apart.', example: 'sk-p...4f2a' })
  key_preview!: string;

  @MapField({ type: 'string' })
  settings!: Record<string, string>;

  @BooleanField({ example: false })
  allow_shared_fallback!: boolean;

  @ObjectField(ScopeDto)
  scope!: ScopeDto;

  @IntegerField({ nullable: true, example: 3 })
  weight!: number | null;

  @IntegerField({ nullable: true, example: 500 })
  requests_per_minute!: number | null;

  @IntegerField({ nullable: true, example: 200_000 })
  tokens_per_minute!: number | null;

  @DateTimeField()
  created_at!: string;

  @DateTimeField({
    nullable: true,
    description: 'Null before the first use. A few seconds behind.',
  })
  last_used_at!: string | null;
}

export class CreatedProviderCredentialDto extends ProviderCredentialDto {
  @ObjectField(KeyCheckDto, {
    nullable: true,
    description: 'Result of the key check; null: not checked.',
  })
  check!: KeyCheckDto | null;
}

export class ProviderCredentialListDto {
  @ObjectListField(ProviderCredentialDto, { description: 'Newest first.' })
  data!: ProviderCredentialDto[];
}

class AccountSettingDto {
  @StringField({ example: 'region' })
  name!: string;

  @BooleanField({ example: true })
  is_required!: boolean;

  @StringField({ example: 'AWS region' })
  description!: string;
}

/** A provider that supports BYOK accounts. */
export class AccountProviderDto {
  @StringField({ example: 'a-provider' })
  provider!: string;

  @StringField({ example: 'A provider' })
  name!: string;

  @StringField({ description: "The provider's name for the key.", example: 'API key' })
  key_description!: string;

  @ObjectListField(AccountSettingDto, { description: 'Settings needed besides the key.' })
  settings!: AccountSettingDto[];
}

export class AccountProviderListDto {
  @ObjectListField(AccountProviderDto, { description: 'By name.' })
  data!: AccountProviderDto[];
}

export class DeletedProviderCredentialDto extends DeletedDto {}
