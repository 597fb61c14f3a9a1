import { KEY_RIGHTS, type KeyRight } from '../../../core/access/roles.js';
import {
  KeyExpiry,
  KeyRateLimit,
  KeySpendLimit,
} from '../../../core/access/key-fields.decorators.js';
import {
  BooleanField,
  DateTimeField,
  EnumField,
  IntegerField,
  NameField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { API_KEY_TYPES, type ApiKeyType } from '../../../core/access/caller.js';
import {
  EnumListField,
  ObjectField,
  ObjectListField,
} from '../../../platform/http/nested-field.decorators.js';
import { BudgetStateDto, LimitsDto, LimitsStateDto } from '../../../core/limits/limits.dto.js';
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../../core/access/api-key.entity.js';

class ApiKeyUsageDto {
  @IntegerField({ description: 'Requests made with the key.', example: 42 })
  request_count!: number;

  @IntegerField({ description: 'Credits charged to the key.', example: 12_500 })
  total_spend!: number;
}

/** An API key as its tenant sees it. */
export class ApiKeyDto {
  @UuidField()
  id!: string;

  @StringField({ example: 'billing service' })
  name!: string;

  @EnumField(API_KEY_TYPES, {
    description: '`routing` keys call models, `management` keys manage the account.',
  })
  type!: ApiKeyType;

  @UuidField({
    nullable: true,
    description: 'Routing key that created it. Its limits and expiry apply as well. Null: none.',
    example: null,
  })
  parent_id!: string | null;

  @StringField({ example: 'sk-4fR9...x2Qa' })
  key_preview!: string;

  @DateTimeField({ nullable: true })
  expires_at!: string | null;

  @BooleanField({ description: 'False once the key is expired or revoked.' })
  is_active!: boolean;

  @EnumField(API_KEY_STATUSES, { example: 'active' })
  status!: ApiKeyStatus;

  @ObjectField(ApiKeyUsageDto)
  usage!: ApiKeyUsageDto;

  @IntegerField({
    nullable: true,
    description: 'Credits per calendar month; null: no own limit.',
    example: null,
  })
  monthly_spend_limit!: number | null;

  @ObjectField(BudgetStateDto, {
    nullable: true,
    description:
      'Remainder of the lowest monthly limit among this key and its ancestors; null: unlimited.',
  })
  monthly_spend!: BudgetStateDto | null;

  @ObjectField(LimitsStateDto, {
    description:
      'Limits set by the tenant. Those of ancestor keys and of the tenant apply as well.',
  })
  limits!: LimitsStateDto;

  @ObjectField(LimitsStateDto, { description: 'Limits set by the operator, in addition.' })
  operator_limits!: LimitsStateDto;

  @BooleanField({
    nullable: true,
    description:
      'Whether prompts and answers of its requests are stored; null: inherited from its parent key or the tenant.',
    example: null,
  })
  content_log!: boolean | null;

  @EnumListField(KEY_RIGHTS, {
    description:
      'Permissions besides calling models, within its type. Granted from the creator, less any that the creator has lost since.',
    example: ['money', 'read', 'develop'],
  })
  rights!: KeyRight[];

  @DateTimeField({ nullable: true })
  last_used_at!: string | null;

  @DateTimeField()
  created_at!: string;

  @DateTimeField()
  updated_at!: string;
}

/** The response to a creation, the only one with the key itself. */
export class CreatedApiKeyDto extends ApiKeyDto {
  @IntegerField({ example: 600 })
  rate_limit_per_minute!: number;

  @StringField({
    description: 'The key in plaintext. Shown only once and not stored.',
    example: 'sk-4fR9…x2Qa',
  })
  key!: string;
}

export class ApiKeyListDto {
  @ObjectListField(ApiKeyDto, { description: 'Newest first, including revoked and expired keys.' })
  data!: ApiKeyDto[];
}

export class CreateApiKeyDto {
  @NameField({ example: 'billing service' })
  name!: string;

  @KeyExpiry('When the key expires, in the future; null or absent: never.')
  expires_at?: string | null;

  @KeyRateLimit('At most the limit of the calling key. Defaults to 600, or to that limit if lower.')
  rate_limit_per_minute?: number;

  @KeySpendLimit(
    'Credits per calendar month (UTC); null or absent: unlimited. At most the calling ' +
      "key's own limit, which is then also the default.",
  )
  monthly_spend_limit?: number | null;

  @ObjectField(LimitsDto, {
    optional: true,
    nullable: true,
    description:
      "Routing keys only. No limit can exceed the calling key's own, which also apply to keys created by routing keys.",
  })
  limits?: LimitsDto | null;

  @EnumField(API_KEY_TYPES, {
    default: 'routing',
    description: 'Only management keys can create management keys.',
  })
  type?: ApiKeyType;
}

/** Fields that can change. Others are rejected. */
export class UpdateApiKeyDto {
  @NameField({ optional: true, example: 'billing service' })
  name?: string;

  @KeyExpiry('The new expiry, in the future; null clears it.')
  expires_at?: string | null;

  @ObjectField(LimitsDto, {
    optional: true,
    nullable: true,
    description: 'Replaces the previous limits; null removes them.',
  })
  limits?: LimitsDto | null;

  @BooleanField({
    optional: true,
    nullable: true,
    description:
      'Whether prompts and answers of its requests are stored; null: inherited from its parent key or the tenant. Requires a management key.',
    example: true,
  })
  content_log?: boolean | null;

  @EnumListField(KEY_RIGHTS, {
    optional: true,
    description:
      'New permissions. The caller must have each of them. From then on the key depends on the caller instead of its creator.',
    example: ['money', 'read', 'develop', 'own', 'content'],
  })
  rights?: KeyRight[];
}
