import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import { OperatedProviderListDto } from './operated-providers.dto.js';
import {
  OperatedRouteListDto,
  RouteHistoryDto,
  RouteHistoryQueryDto,
  PauseRouteDto,
  RouteNameDto,
  RoutePauseDto,
  RoutePauseListDto,
  RouteQueryDto,
} from './routes.dto.js';
import { RoutesAdmin } from './routes.service.js';

const WHOLE = { object: 'list', has_more: false, next_cursor: null } as const;

@ApiTags('Admin')
@Operator()
@Controller('v1/admin')
export class RoutesController {
  constructor(private readonly admin: RoutesAdmin) {}

  @Get('providers')
  @ApiOperation({
    operationId: 'listOperatedProviders',
    summary: 'List the configured providers with their health',
    description:
      'Probes each provider unless it was probed recently, which takes up to about 2 s. Always returns the whole list.',
  })
  @ApiOkResponse({ type: OperatedProviderListDto })
  async providers(): Promise<OperatedProviderListDto> {
    return { ...WHOLE, data: await this.admin.providers() };
  }

  @Get('routes')
  @ApiOperation({
    operationId: 'listRoutes',
    summary: 'List catalogue routes with their health and pauses',
    description: 'The state of instances is that of their last heartbeat, at most 5 s old.',
  })
  @ApiOkResponse({ type: OperatedRouteListDto })
  @ApiFilters()
  routes(@Query() query: RouteQueryDto): Promise<OperatedRouteListDto> {
    return this.admin.routes(query);
  }

  @Get('routes/history')
  @ApiOperation({
    operationId: 'getRouteHistory',
    summary: 'Get the history of routes',
    description:
      'Vendor calls by outcome for up to a week, in steps of 5 minutes for up to 6 hours, 30 minutes ' +
      'for up to 48 hours and 4 hours beyond. Excludes BYOK calls, rejections that were correct, and ' +
      'calls whose caller disconnected. The latest 10 s may be missing.',
  })
  @ApiOkResponse({ type: RouteHistoryDto })
  @ApiFilters()
  history(@Query() { hours }: RouteHistoryQueryDto): Promise<RouteHistoryDto> {
    return this.admin.history(hours);
  }

  @Get('routes/pauses')
  @ApiOperation({
    operationId: 'listRoutePauses',
    summary: 'List pauses',
    description:
      'Includes members of model families, which have no own row. Always returns the whole list.',
  })
  @ApiOkResponse({ type: RoutePauseListDto })
  pauses(): RoutePauseListDto {
    return { ...WHOLE, data: this.admin.listPauses() };
  }

  @Post('routes/pause')
  @HttpCode(200)
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'pauseRoute',
    summary: 'Pause a route or a provider',
    description:
      'When this returns, no instance starts new calls; requests in progress continue. An instance that is ' +
      'disconnected from the others follows within seconds. Requests without another route get 503. Pausing again ' +
      'updates the reason and the end.',
  })
  @ApiOkResponse({ type: RoutePauseDto })
  @ApiFields(PauseRouteDto, {
    'A model at a provider': {
      provider: 'sandbox',
      model: 'sandbox/echo',
      reason: 'answers are cut short',
    },
    'A whole provider, for a while': {
      provider: 'sandbox',
      reason: 'maintenance',
      until: '2030-12-31T23:59:59Z',
    },
  })
  pause(@CurrentAuthor() author: Author, @Body() body: PauseRouteDto): Promise<RoutePauseDto> {
    return this.admin.pause(author, body);
  }

  @Post('routes/resume')
  @HttpCode(200)
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'resumeRoute',
    summary: 'End a pause',
    description: 'Takes the same names as the pause, and returns the ended pause.',
  })
  @ApiOkResponse({ type: RoutePauseDto })
  @ApiFields(RouteNameDto, {
    'A model at a provider': { provider: 'sandbox', model: 'sandbox/echo' },
  })
  @ApiErrorResponse(404, 'Nothing is paused under this name.')
  resume(@CurrentAuthor() author: Author, @Body() body: RouteNameDto): Promise<RoutePauseDto> {
    return this.admin.resume(author, body);
  }
}
