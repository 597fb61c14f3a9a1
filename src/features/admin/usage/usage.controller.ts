import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { readDimensions } from '../../../core/request-log/log-dimensions.js';
import {
  LogGroupListDto,
  toGroupList,
  valuesOf,
} from '../../../core/request-log/log-groups.dto.js';
import { readLogFilters } from '../../../core/request-log/log-query.dto.js';
import {
  RequestLogGroupsReader,
  type LogSums,
} from '../../../core/request-log/request-log-groups.reader.js';
import { MarginListDto, MarginSumsDto, UsageQueryDto } from './usage.dto.js';

/** Usage and margin over all tenants. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin')
export class UsageController {
  constructor(private readonly requestGroups: RequestLogGroupsReader) {}

  @Get('usage')
  @ApiOperation({
    operationId: 'getUsage',
    summary: 'Aggregate requests over all tenants or of one',
    description:
      'Exact, and includes every ended request. Ranges over all tenants are widened to whole hours.',
  })
  @ApiOkResponse({ type: LogGroupListDto })
  @ApiFilters()
  async usage(@Query() query: UsageQueryDto): Promise<LogGroupListDto> {
    const { dimensions, found } = await this.read(query);
    return toGroupList(dimensions, found);
  }

  @Get('margin')
  @ApiOperation({
    operationId: 'getMargin',
    summary: 'Get charges and vendor costs of requests',
    description:
      'Grouped and filtered like usage. Vendor costs include failed, abandoned and repeated attempts, which count towards the `route` that answered. A job refund counts with its request; if that is archived or deleted, it counts at the time of the refund in the group of unknown values (`is_rest`).',
  })
  @ApiOkResponse({ type: MarginListDto })
  @ApiFilters()
  async margin(@Query() query: UsageQueryDto): Promise<MarginListDto> {
    const { dimensions, found } = await this.read(query, true);
    return {
      group_by: dimensions.map(({ name }) => name).join(','),
      data: found.groups.map((group) => ({
        groups: valuesOf(dimensions, group),
        is_rest: group.isRest,
        ...toMargin(group),
      })),
      group_count: found.count,
      total: toMargin(found.total),
    };
  }

  private async read(query: UsageQueryDto, withRefunds = false) {
    const dimensions = readDimensions(query.group_by, { isOverTenants: true });
    const { start, end, ...filters } = readLogFilters(query);
    const { tenant_id: tenantId, limit } = query;
    const range = { start, end };
    const found = await this.requestGroups.groups({
      tenantId,
      dimensions,
      filters,
      range,
      limit,
      withRefunds,
    });
    return { dimensions, found };
  }
}

function toMargin({ requests, cost, shortfall, refunded = 0, vendorCost }: LogSums): MarginSumsDto {
  return {
    requests,
    charged: cost + shortfall,
    shortfall,
    refunded,
    vendor_cost: vendorCost,
    margin: cost - refunded - vendorCost,
  };
}
