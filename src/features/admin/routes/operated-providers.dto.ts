import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import {
  DateTimeField,
  EnumField,
  IntegerField,
  NumberField,
  StringField,
} from '../../../platform/http/field.decorators.js';
import {
  ObjectField,
  ObjectListField,
  StringListField,
} from '../../../platform/http/nested-field.decorators.js';
import { KeyCheckDto } from '../../../core/credentials/account-check.dto.js';
import { ACCOUNT_STATES, type AccountState } from '../../../core/routing/pool/account-figures.js';
import { PROVIDER_STATUSES, type ProviderStatus } from '../../../core/routing/provider-status.js';
import { PROVIDER_TYPES, type ProviderType } from '../../../platform/config/app-config.js';
import { InstanceStateDto, RoutePauseDto } from './routes.dto.js';

/** One of several accounts of a provider, as seen by the responding instance. */
export class OperatedAccountDto {
  @StringField({ example: 'eu-west' })
  id!: string;

  @NumberField({ example: 2 })
  weight!: number;

  @EnumField(ACCOUNT_STATES, {
    description:
      'The worst state of its models. `limited`: minute budget spent. `cooling`: the vendor asked to wait. `open`: failing or rejected.',
    example: 'healthy',
  })
  state!: AccountState;

  @IntegerField({ example: 3 })
  requests_in_flight!: number;

  @IntegerField({ example: 120 })
  requests_last_minute!: number;

  @IntegerField({ description: 'Includes the estimates of requests in progress.', example: 84000 })
  tokens_last_minute!: number;

  @IntegerField({
    nullable: true,
    description: 'Limit over all instances; null: none.',
    example: 500,
  })
  requests_per_minute!: number | null;

  @IntegerField({
    nullable: true,
    description: 'Limit over all instances; null: none.',
    example: 200000,
  })
  tokens_per_minute!: number | null;
}

class SeenModelsDto {
  @IntegerField({ description: 'Catalogue models with a route to it.', example: 43 })
  total!: number;

  @IntegerField({ description: 'Models that the vendor lists.', example: 41 })
  seen!: number;

  @StringListField({
    description: 'Models that the vendor does not list.',
    example: ['sandbox/echo'],
  })
  missing!: string[];
}

/** Result of checking a key with a free call. */
export class OperatedKeyCheckDto extends KeyCheckDto {
  @StringField({
    nullable: true,
    description: 'Account, when there are several; otherwise null.',
    example: 'eu-west',
  })
  account!: string | null;

  @ObjectField(SeenModelsDto, {
    nullable: true,
    description: "Null when the vendor's model list cannot be compared with routes.",
  })
  catalogue!: SeenModelsDto | null;

  @DateTimeField()
  checked_at!: string;
}

class OperatedHealthDto {
  @IntegerField({ description: 'Median in milliseconds.', example: 120 })
  latency_p50!: number;

  @IntegerField({ description: 'Milliseconds.', example: 180 })
  latency_p99!: number;

  @NumberField({ description: 'Share of failed probes within 10 s, 0 to 1.', example: 0 })
  error_rate!: number;

  @DateTimeField()
  last_checked_at!: string;
}

export class OperatedProviderDto {
  @StringField({ example: 'sandbox' })
  id!: string;

  @StringField({ example: 'Sandbox' })
  name!: string;

  @EnumField(PROVIDER_TYPES)
  type!: ProviderType;

  @EnumField(PROVIDER_STATUSES, { description: 'Result of current probes.' })
  status!: ProviderStatus;

  @ObjectField(OperatedHealthDto)
  health!: OperatedHealthDto;

  @ObjectField(RoutePauseDto, { nullable: true, description: 'Pause of the whole provider.' })
  pause!: RoutePauseDto | null;

  @ObjectListField(OperatedKeyCheckDto, {
    description:
      'Key checks of each account, made when the responding instance started or the provider was ' +
      'configured. Empty before that, when checks are disabled, and when no key is needed.',
  })
  key_checks!: OperatedKeyCheckDto[];

  @ObjectListField(OperatedAccountDto, {
    description: 'Accounts that share the requests; empty when there is only one.',
  })
  accounts!: OperatedAccountDto[];

  @ObjectListField(InstanceStateDto, {
    description: 'Instances with a cooldown or open breaker for the whole provider.',
  })
  instances!: InstanceStateDto[];
}

export class OperatedProviderListDto extends CursorPageDto {
  @ObjectListField(OperatedProviderDto)
  data!: OperatedProviderDto[];
}
