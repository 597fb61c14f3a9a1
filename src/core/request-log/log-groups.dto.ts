import {
  BooleanField,
  IntegerField,
  MapField,
  NumberField,
  StringField,
} from '../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../platform/http/nested-field.decorators.js';
import type { LogDimension } from './log-dimensions.js';
import type { LogGroup, LogGroups, LogSums } from './request-log-groups.reader.js';

class TokenSumsDto {
  @IntegerField({ example: 42_000 })
  prompt!: number;

  @IntegerField({ example: 9_600 })
  completion!: number;

  @IntegerField({ example: 51_600 })
  total!: number;
}

export class LogSumsDto {
  @IntegerField({ example: 100 })
  requests!: number;

  @IntegerField({ description: 'Requests with the status `error`.', example: 2 })
  errors!: number;

  @NumberField({ description: 'From 0.0 to 1.0.', example: 0.02 })
  error_rate!: number;

  @ObjectField(TokenSumsDto)
  tokens!: TokenSumsDto;

  @IntegerField({ description: 'Credits charged.', example: 12_100 })
  cost!: number;

  @IntegerField({
    description: "Vendor usage in credits at the routes' prices, charged or not.",
    example: 12_400,
  })
  vendor_cost!: number;

  @IntegerField({ description: 'Average in milliseconds.', example: 1830 })
  latency_avg!: number;
}

/** Requests with the same values in all dimensions. */
export class LogGroupDto extends LogSumsDto {
  @MapField(
    { type: 'string', nullable: true },
    {
      description:
        'The value of each `group_by` dimension; for times the start of the period. Null when missing, such as for requests without the tag.',
      example: { 'tag:team': 'search', model: 'sandbox/echo' },
    },
  )
  groups!: Record<string, string | null>;

  @BooleanField({
    description:
      'Whether this group collects requests with too many distinct values to list; their values are null.',
    example: false,
  })
  is_rest!: boolean;
}

/** Groups and their total. */
export class LogGroupListDto {
  @StringField({ example: 'tag:team,model' })
  group_by!: string;

  @ObjectListField(LogGroupDto, {
    description: 'Times in order, other dimensions by cost, highest first.',
  })
  data!: LogGroupDto[];

  @IntegerField({ description: 'Number of groups, including those not shown.', example: 12 })
  group_count!: number;

  @ObjectField(LogSumsDto, { description: 'Total of all groups, including those not shown.' })
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
