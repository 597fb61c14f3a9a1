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

/** What requests add up to. Amounts are credits. */
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
    description: "What vendors used, in credits at the routes' prices, charged or not.",
    example: 12_400,
  })
  vendor_cost!: number;

  @ApiProperty({ type: 'integer', description: 'Milliseconds, on average.', example: 1830 })
  latency_avg!: number;
}

/** Requests that have the values of all dimensions in common. */
export class LogGroupDto extends LogSumsDto {
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string', nullable: true },
    description:
      'The value of each dimension of `group_by`; of times the first instant. Null: it has none, as requests without that tag.',
    example: { 'tag:team': 'search', model: 'sandbox/echo' },
  })
  groups!: Record<string, string | null>;

  @ApiProperty({
    description:
      'Whether these are requests whose values were too many to be kept apart; null stands for those then.',
    example: false,
  })
  is_rest!: boolean;
}

/** Groups, and what all of them come to. */
export class LogGroupListDto {
  @ApiProperty({ example: 'tag:team,model' })
  group_by!: string;

  @ApiProperty({
    type: [LogGroupDto],
    description: 'Times in their order, all else by cost, the dearest first.',
  })
  data!: LogGroupDto[];

  @ApiProperty({
    type: 'integer',
    description: 'Groups that there are, shown or not.',
    example: 12,
  })
  group_count!: number;

  @ApiProperty({ type: LogSumsDto, description: 'Over all groups, shown or not.' })
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

/** The values of a group by the names of the dimensions. */
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
