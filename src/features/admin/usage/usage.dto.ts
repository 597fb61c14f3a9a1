import {
  BooleanField,
  IntegerField,
  MapField,
  StringField,
  UuidField,
} from '../../../platform/http/field.decorators.js';
import { ObjectField, ObjectListField } from '../../../platform/http/nested-field.decorators.js';
import { PageLimit } from '../../../platform/http/cursor-page.js';
import { LOG_DIMENSIONS } from '../../../core/request-log/log-dimensions.js';
import { GROUP_LIMIT, LogFilterQueryDto } from '../../../core/request-log/log-query.dto.js';

/** Filters of requests, of one tenant or all. */
export class TenantLogFilterQueryDto extends LogFilterQueryDto {
  @UuidField({ optional: true, description: 'Only of this tenant.' })
  tenant_id?: string;
}

/** Grouping and filters. */
export class UsageQueryDto extends TenantLogFilterQueryDto {
  @StringField({
    default: 'tenant',
    description: `One of ${['tenant', ...LOG_DIMENSIONS].map((name) => `\`${name}\``).join(', ')} and \`tag:<key>\`, or two of them separated by a comma.`,
    message: 'must be one dimension, or two separated by a comma',
  })
  group_by: string = 'tenant';

  @PageLimit({ ...GROUP_LIMIT, description: 'Maximum number of groups.' })
  limit: number = GROUP_LIMIT.default;
}

/** Revenue and cost of requests. Amounts are credits. */
export class MarginSumsDto {
  @IntegerField({ example: 100 })
  requests!: number;

  @IntegerField({ description: 'Charges of the requests.', example: 12_500 })
  charged!: number;

  @IntegerField({
    description: 'Part of the charges not covered by tenant credits. Never collected.',
    example: 100,
  })
  shortfall!: number;

  @IntegerField({
    description: 'Part of the charges refunded, such as for unfetched jobs.',
    example: 0,
  })
  refunded!: number;

  @IntegerField({
    description: "Vendor usage at the routes' prices, charged or not.",
    example: 12_400,
  })
  vendor_cost!: number;

  @IntegerField({
    description: '`charged` less `shortfall`, `refunded` and `vendor_cost`.',
    example: 0,
  })
  margin!: number;
}

class MarginGroupDto extends MarginSumsDto {
  @MapField(
    { type: 'string', nullable: true },
    {
      description: 'The value of each dimension in `group_by`; null when a request has none.',
      example: { tenant: '3f0a4b39-7b0c-4a52-9d0f-0f9d2b6f1a01' },
    },
  )
  groups!: Record<string, string | null>;

  @BooleanField({
    description: 'Whether the group combines values that were too many to keep separate.',
    example: false,
  })
  is_rest!: boolean;
}

export class MarginListDto {
  @StringField({ example: 'tenant' })
  group_by!: string;

  @ObjectListField(MarginGroupDto, {
    description: 'Times in order; other groups by charges, highest first.',
  })
  data!: MarginGroupDto[];

  @IntegerField({ description: 'Total number of groups.', example: 1 })
  group_count!: number;

  @ObjectField(MarginSumsDto, { description: 'Totals over all groups.' })
  total!: MarginSumsDto;
}
