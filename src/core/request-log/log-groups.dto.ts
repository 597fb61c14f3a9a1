import { ApiProperty } from '@nestjs/swagger';
import type { LogDimension } from './log-dimensions.js';
import type { LogGroup, LogGroups, LogSums } from './request-log-groups.reader.js';

class TokenSumsDto {
  @ApiProperty({ type: 'integer', example: 42_000 })
  prompt!: number;

  @ApiProperty({ type: 'integer', example: 9_600 })
  completion!: number;

  @ApiProperty({ type: 'integer', example: 51_600 })
  total!: number;
}

export class LogSumsDto {
  @ApiProperty({ type: 'integer', example: 100 })
  requests!: number;

  @ApiProperty({ type: 'integer', description: 'Requests with the status `error`.', example: 2 })
  errors!: number;

  @ApiProperty({ type: Number, description: 'From 0.0 to 1.0.', example: 0.02 })
  error_rate!: number;

  @ApiProperty({ type: TokenSumsDto })
  tokens!: TokenSumsDto;

  @ApiProperty({ type: 'integer', description: 'Credits charged.', example: 12_100 })
  cost!: number;

  @ApiProperty({
    type: 'integer',
    description: "Vendor usage in credits at the routes' prices, charged or not.",
    example: 12_400,
  })
  vendor_cost!: number;

  @ApiProperty({ type: 'integer', description: 'Average in milliseconds.', example: 1830 })
  latency_avg!: number;
}

/** Requests with the same values in all dimensions. */
export class LogGroupDto extends LogSumsDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    description:
      'The value of each `group_by` dimension; for times the start of the period. Null when missing, such as for requests without the tag.',
    example: { 'tag:team': 'search', model: 'sandbox/echo' },
  })
  groups!: Record<string, string | null>;

  @ApiProperty({
    description:
      'Whether this group collects requests with too many distinct values to list; their values are null.',
    example: false,
  })
  is_rest!: boolean;
}

/** Groups and their total. */
export class LogGroupListDto {
  @ApiProperty({ example: 'tag:team,model' })
  group_by!: string;

  @ApiProperty({
    type: [LogGroupDto],
    description: 'Times in order, other dimensions by cost, highest first.',
  })
  data!: LogGroupDto[];

  @ApiProperty({
    type: 'integer',
    description: 'Number of groups, including those not shown.',
    example: 12,
  })
  group_count!: number;

  @ApiProperty({ type: LogSumsDto, description: 'Total of all groups, including those not shown.' })
  total!: LogSumsDto;
}

export function toGroupList(
  dimensions: readonly LogDimension[],
  found: LogGroups,
): LogGroupListDto {
  return {
    group_by: dimensions.map(({ name }) => name).join(','),
    data: found.groups.map((group) => toGroupDto(dimensions, group)),
    group_count: found.count,
    total: toSumsDto(found.total),
  };
}

function toGroupDto(dimensions: readonly LogDimension[], group: LogGroup): LogGroupDto {
  return { groups: valuesOf(dimensions, group), is_rest: group.isRest, ...toSumsDto(group) };
}

/** Returns a group's values by dimension. */
export function valuesOf(
  dimensions: readonly LogDimension[],
  { values }: Pick<LogGroup, 'values'>,
): Record<string, string | null> {
  return Object.fromEntries(dimensions.map(({ name }, index) => [name, values[index] ?? null]));
}

function toSumsDto(sums: LogSums): LogSumsDto {
  const { requests, errors, promptTokens, completionTokens, latencyMs } = sums;
  return {
    requests,
    errors,
    error_rate: requests === 0 ? 0 : errors / requests,
    tokens: {
      prompt: promptTokens,
      completion: completionTokens,
      total: promptTokens + completionTokens,
    },
    cost: sums.cost,
    vendor_cost: sums.vendorCost,
    latency_avg: requests === 0 ? 0 : Math.round(latencyMs / requests),
  };
}
