import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, IsString, Matches } from 'class-validator';
import { LOG_DIMENSIONS } from '../../../core/request-log/log-dimensions.js';
import { GROUP_LIMIT, LogFilterQueryDto } from '../../../core/request-log/log-query.dto.js';
import { UUID } from '../../../platform/database/stored-text.js';
import { PageLimit } from '../../../platform/http/field.decorators.js';

/** Filters of requests, of one tenant or all. */
export class TenantLogFilterQueryDto extends LogFilterQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: 'Only of this tenant.' })
  @IsOptional()
  @Matches(UUID, { message: 'tenant_id must be one id' })
  tenant_id?: string;
}

/** Grouping and filters. */
export class UsageQueryDto extends TenantLogFilterQueryDto {
  @ApiPropertyOptional({
    default: 'tenant',
    description: `One of ${['tenant', ...LOG_DIMENSIONS].map((name) => `\`${name}\``).join(', ')} and \`tag:<key>\`, or two of them separated by a comma.`,
  })
  @IsString({ message: 'group_by must be one dimension, or two separated by a comma' })
  group_by: string = 'tenant';

  @PageLimit({ ...GROUP_LIMIT, description: 'Maximum number of groups.' })
  limit: number = GROUP_LIMIT.default;
}

/** Revenue and cost of requests. Amounts are credits. */
export class MarginSumsDto {
  @ApiProperty({ type: 'integer', example: 100 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Charges of the requests.', example: 12_500 })
  charged!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Part of the charges not covered by tenant credits. Never collected.',
    example: 100,
  })
  shortfall!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Part of the charges refunded, such as for unfetched jobs.',
    example: 0,
  })
  refunded!: number;

  @ApiProperty({
    type: 'integer',
    description: "Vendor usage at the routes' prices, charged or not.",
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
    description: 'The value of each dimension in `group_by`; null when a request has none.',
    example: { tenant: '3f0a4b39-7b0c-4a52-9d0f-0f9d2b6f1a01' },
  })
  groups!: Record<string, string | null>;

  @ApiProperty({
    description: 'Whether the group combines values that were too many to keep separate.',
    example: false,
  })
  is_rest!: boolean;
}

export class MarginListDto {
  @ApiProperty({ example: 'tenant' })
  group_by!: string;

  @ApiProperty({
    type: [MarginGroupDto],
    description: 'Times in order; other groups by charges, highest first.',
  })
  data!: MarginGroupDto[];

  @ApiProperty({ type: 'integer', description: 'Total number of groups.', example: 1 })
  group_count!: number;

  @ApiProperty({ type: MarginSumsDto, description: 'Totals over all groups.' })
  total!: MarginSumsDto;
}
