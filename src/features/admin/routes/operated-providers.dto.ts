import { ApiProperty } from '@nestjs/swagger';
import { KeyCheckDto } from '../../../core/credentials/account-check.dto.js';
import { ACCOUNT_STATES, type AccountState } from '../../../core/routing/pool/account-figures.js';
import { PROVIDER_STATUSES, type ProviderStatus } from '../../../core/routing/provider-status.js';
import { PROVIDER_TYPES, type ProviderType } from '../../../platform/config/app-config.js';
import { CursorPageDto } from '../../../platform/http/cursor-page.js';
import { InstanceStateDto, RoutePauseDto } from './routes.dto.js';

/** One of several accounts of a provider, as the instance that answers knows it. */
export class OperatedAccountDto {
  @ApiProperty({ example: 'eu-west' })
  id!: string;

  @ApiProperty({ example: 2 })
  weight!: number;

  @ApiProperty({
    enum: ACCOUNT_STATES,
    description:
      'The worst of its models: `limited` has used up its minute, `cooling` was told to wait, `open` fails or was refused.',
    example: 'healthy',
  })
  state!: AccountState;

  @ApiProperty({ type: 'integer', example: 3 })
  requests_in_flight!: number;

  @ApiProperty({ type: 'integer', example: 120 })
  requests_last_minute!: number;

  @ApiProperty({
    type: 'integer',
    description: 'With what is expected of requests under way.',
    example: 84000,
  })
  tokens_last_minute!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The limit, of all instances together; null: none.',
    example: 500,
  })
  requests_per_minute!: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The limit, of all instances together; null: none.',
    example: 200000,
  })
  tokens_per_minute!: number | null;
}

class SeenModelsDto {
  @ApiProperty({
    type: 'integer',
    description: "Of the catalogue's, with a route to it.",
    example: 43,
  })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'Those that it lists.', example: 41 })
  seen!: number;

  @ApiProperty({ type: [String], description: 'The others.', example: ['sandbox/echo'] })
  missing!: string[];
}

/** What the vendor said of a key when it was tried by a call that costs nothing. */
export class OperatedKeyCheckDto extends KeyCheckDto {
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'One of several accounts; null: the only one.',
    example: 'eu-west',
  })
  account!: string | null;

  @ApiProperty({
    type: SeenModelsDto,
    nullable: true,
    description: 'Null where the vendor does not list models by the names of routes.',
  })
  catalogue!: SeenModelsDto | null;

  @ApiProperty({ type: String, format: 'date-time' })
  checked_at!: string;
}

class OperatedHealthDto {
  @ApiProperty({ type: 'integer', description: 'Milliseconds, the median.', example: 120 })
  latency_p50!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds.', example: 180 })
  latency_p99!: number;

  @ApiProperty({ description: 'Failed probes of all within 10 s, 0 to 1.', example: 0 })
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

  @ApiProperty({ enum: PROVIDER_STATUSES, description: 'What probes of it say now.' })
  status!: ProviderStatus;

  @ApiProperty({ type: OperatedHealthDto })
  health!: OperatedHealthDto;

  @ApiProperty({ type: RoutePauseDto, nullable: true, description: 'Of the provider as a whole.' })
  pause!: RoutePauseDto | null;

  @ApiProperty({
    type: [OperatedKeyCheckDto],
    description:
      'What its vendor said of its key, or of that of each account, when the instance that answers started or the ' +
      'provider was configured. Empty before that, where checks are turned off, and where no key is needed.',
  })
  key_checks!: OperatedKeyCheckDto[];

  @ApiProperty({
    type: [OperatedAccountDto],
    description: 'Where requests are spread among several; else empty.',
  })
  accounts!: OperatedAccountDto[];

  @ApiProperty({
    type: [InstanceStateDto],
    description: 'Processes that leave it alone as a whole.',
  })
  instances!: InstanceStateDto[];
}

export class OperatedProviderListDto extends CursorPageDto {
  @ApiProperty({ type: [OperatedProviderDto] })
  data!: OperatedProviderDto[];
}
