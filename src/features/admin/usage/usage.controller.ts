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

/** What requests add up to over all tenants, and what is left of it. */
@ApiTags('Admin')
@Operator()
@Controller('v1/admin')
export class UsageController {
  constructor(private readonly requestGroups: RequestLogGroupsReader) {}

  @Get('usage')
  @ApiOperation({
    operationId: 'getUsage',
    summary: 'Add requests up, over all tenants or of one',
    description:
      'Exact, and includes every request whose answer has ended. Over all tenants a range is widened to whole hours.',
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
    summary: 'What was charged for requests, and what vendors took for them',
    description:
      'Grouped and filtered as usage. Vendors take something for what failed, was left or was tried twice as well. A `route` is that which answered; what others took for the same requests counts there. A refund of a job counts with its request; where the request is archived or swept, at the time of the refund and in the group of what is not known (`is_rest`).',
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
