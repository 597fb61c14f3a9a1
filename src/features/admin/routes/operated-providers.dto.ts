import { ApiProperty } from '@nestjs/swagger';
import { KeyCheckDto } from '../../../core/credentials/account-check.dto.js';
import { ACCOUNT_STATES, type AccountState } from '../../../core/routing/pool/account-figures.js';
import { PROVIDER_STATUSES, type ProviderStatus } from '../../../core/routing/provider-status.js';
import { PROVIDER_TYPES, type ProviderType } from '../../../platform/config/app-config.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { InstanceStateDto, RoutePauseDto } from './routes.dto.js';

/** One of several accounts of a provider, as seen by the responding instance. */
export class OperatedAccountDto {
  @ApiProperty({ example: 'eu-west' })
  id!: string;

  @ApiProperty({ example: 2 })
  weight!: number;

  @ApiProperty({
    enum: ACCOUNT_STATES,
    description:
      'The worst state of its models. `limited`: minute budget spent. `cooling`: the vendor asked to wait. `open`: failing or rejected.',
    example: 'healthy',
  })
  state!: AccountState;

  @ApiProperty({ type: 'integer', example: 3 })
  requests_in_flight!: number;

  @ApiProperty({ type: 'integer', example: 120 })
  requests_last_minute!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Includes the estimates of requests in progress.',
    example: 84000,
  })
  tokens_last_minute!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Limit over all instances; null: none.',
    example: 500,
  })
  requests_per_minute!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Limit over all instances; null: none.',
    example: 200000,
  })
  tokens_per_minute!: number | null;
}

class SeenModelsDto {
  @ApiProperty({
    type: 'integer',
    description: 'Catalogue models with a route to it.',
    example: 43,
  })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'Models that the vendor lists.', example: 41 })
  seen!: number;

  @ApiProperty({
    type: [String],
    description: 'Models that the vendor does not list.',
    example: ['sandbox/echo'],
  })
  missing!: string[];
}

/** Result of checking a key with a free call. */
export class OperatedKeyCheckDto extends KeyCheckDto {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Account, when there are several; otherwise null.',
    example: 'eu-west',
  })
  account!: string | null;

  @ApiProperty({
    type: SeenModelsDto,
    nullable: true,
    description: "Null when the vendor's model list cannot be compared with routes.",
  })
  catalogue!: SeenModelsDto | null;

  @ApiProperty({ type: String, format: 'date-time' })
  checked_at!: string;
}

class OperatedHealthDto {
  @ApiProperty({ type: 'integer', description: 'Median in milliseconds.', example: 120 })
  latency_p50!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 180 })
  latency_p99!: number;

  @ApiProperty({ description: 'Share of failed probes within 10 s, 0 to 1.', example: 0 })
  error_rate!: number;

  @ApiProperty({ type: String, format: 'date-time' })
  last_checked_at!: string;
}

export class OperatedProviderDto {
  @ApiProperty({ example: 'sandbox' })
  id!: string;

  @ApiProperty({ example: 'Sandbox' })
  name!: string;

  @ApiProperty({ enum: PROVIDER_TYPES })
  type!: ProviderType;

  @ApiProperty({ enum: PROVIDER_STATUSES, description: 'Result of current probes.' })
  status!: ProviderStatus;

  @ApiProperty({ type: OperatedHealthDto })
  health!: OperatedHealthDto;

  @ApiProperty({ type: RoutePauseDto, nullable: true, description: 'Pause of the whole provider.' })
  pause!: RoutePauseDto | null;

  @ApiProperty({
    type: [OperatedKeyCheckDto],
    description:
      'Key checks of each account, made when the responding instance started or the provider was ' +
      'configured. Empty before that, when checks are disabled, and when no key is needed.',
  })
  key_checks!: OperatedKeyCheckDto[];

  @ApiProperty({
    type: [OperatedAccountDto],
    description: 'Accounts that share the requests; empty when there is only one.',
  })
  accounts!: OperatedAccountDto[];

  @ApiProperty({
    type: [InstanceStateDto],
    description: 'Instances with a cooldown or open breaker for the whole provider.',
  })
  instances!: InstanceStateDto[];
}

export class OperatedProviderListDto extends CursorPageDto {
  @ApiProperty({ type: [OperatedProviderDto] })
  data!: OperatedProviderDto[];
}
