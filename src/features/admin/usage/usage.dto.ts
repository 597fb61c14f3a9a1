import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { LOG_DIMENSIONS } from '../../../core/request-log/log-dimensions.js';
import { GROUP_LIMIT, LogFilterQueryDto } from '../../../core/request-log/log-query.dto.js';
import { UUID } from '../../../platform/database/stored-text.js';
import { PageLimit } from '../../../platform/http/field.decorators.js';

/** Which requests are asked for, of one tenant or of all. */
export class TenantLogFilterQueryDto extends LogFilterQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Only of this tenant.' })
  @IsOptional()
  @Matches(UUID, { message: 'tenant_id must be one id' })
  tenant_id?: string;
}

/** What requests are grouped by, and which of them are counted. */
export class UsageQueryDto extends TenantLogFilterQueryDto {
  @ApiPropertyOptional({
    default: 'tenant',
    description: `One of ${['tenant', ...LOG_DIMENSIONS].map((name) => `\`${name}\``).join(', ')} and \`tag:<key>\`, or two of them with a comma between.`,
  })
  @IsString({ message: 'group_by must be one dimension, or two with a comma between' })
  group_by: string = 'tenant';

  @PageLimit({ ...GROUP_LIMIT, description: 'Groups in the answer.' })
  limit: number = GROUP_LIMIT.default;
}

/** What was taken in for requests, and what they cost. Amounts are credits. */
export class MarginSumsDto {
  @ApiProperty({ type: 'integer', example: 100 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'What the requests were charged.', example: 12_500 })
  charged!: number;

  @ApiProperty({
    type: 'integer',
    description: 'What of it the tenants’ credits did not reach for, which nobody pays.',
    example: 100,
  })
  shortfall!: number;

  @ApiProperty({
    type: 'integer',
    description: 'What of it was given back, as for jobs that nobody fetched.',
    example: 0,
  })
  refunded!: number;

  @ApiProperty({
    type: 'integer',
    description: "What vendors used, at the routes' prices, charged or not.",
    example: 12_400,
  })
  vendor_cost!: number;

  @ApiProperty({
    type: 'integer',
    description: '`charged` less `shortfall`, `refunded` and `vendor_cost`.',
    example: 0,
  })
  margin!: number;
}

class MarginGroupDto extends MarginSumsDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    description: 'The value of each dimension of `group_by`; null: it has none.',
    example: { tenant: '3f0a4b39-7b0c-4a52-9d0f-0f9d2b6f1a01' },
  })
  groups!: Record<string, string | null>;

  @ApiProperty({
    description: 'Whether the values of these requests were too many to be kept apart.',
    example: false,
  })
  is_rest!: boolean;
}

export class MarginListDto {
  @ApiProperty({ example: 'tenant' })
  group_by!: string;

  @ApiProperty({
    type: [MarginGroupDto],
    description: 'Times in their order, all else by what was charged, the most first.',
  })
  data!: MarginGroupDto[];

  @ApiProperty({ type: 'integer', description: 'Groups that there are, shown or not.', example: 1 })
  group_count!: number;

  @ApiProperty({ type: MarginSumsDto, description: 'Over all groups, shown or not.' })
  total!: MarginSumsDto;
}
