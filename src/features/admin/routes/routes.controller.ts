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
      'Each is probed, unless it was a moment ago, which takes up to about 2 s. The list is always whole.',
  })
  @ApiOkResponse({ type: OperatedProviderListDto })
  async providers(): Promise<OperatedProviderListDto> {
    return { ...WHOLE, data: await this.admin.providers() };
  }

  @Get('routes')
  @ApiOperation({
    operationId: 'listRoutes',
    summary: 'List the routes of the catalogue, how they do and which are paused',
    description: 'What processes have seen is as of their last heartbeats, 5 s at most.',
  })
  @ApiOkResponse({ type: OperatedRouteListDto })
  @ApiFilters()
  routes(@Query() query: RouteQueryDto): Promise<OperatedRouteListDto> {
    return this.admin.routes(query);
  }

  @Get('routes/history')
  @ApiOperation({
    operationId: 'getRouteHistory',
    summary: 'How routes have done over time',
    description:
      'Calls to vendors by what became of them, up to a week back: sums of 5 minutes for up to 6 hours, of half an ' +
      "hour for up to 48, of 4 hours beyond. Calls over tenants' own accounts, what a vendor rightly refused and " +
      'what its caller left are not in it. The latest 10 s may be missing.',
  })
  @ApiOkResponse({ type: RouteHistoryDto })
  @ApiFilters()
  history(@Query() { hours }: RouteHistoryQueryDto): Promise<RouteHistoryDto> {
    return this.admin.history(hours);
  }

  @Get('routes/pauses')
  @ApiOperation({
    operationId: 'listRoutePauses',
    summary: 'List what is paused',
    description: 'Members of families of models too, which have no row of their own. Always whole.',
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
    summary: 'Pause a model at a provider, or a provider as a whole',
    description:
      'Once this is answered no instance tries it any more; requests under way go on. One that is cut off from the ' +
      'others does so within seconds. Where it leaves a request no route, the answer is 503. Pausing again changes ' +
      'the reason and the end.',
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
    description: 'It is named as it was paused. The answer is the pause that is over.',
  })
  @ApiOkResponse({ type: RoutePauseDto })
  @ApiFields(RouteNameDto, {
    'A model at a provider': { provider: 'sandbox', model: 'sandbox/echo' },
  })
  @ApiErrorResponse(404, 'Nothing of this name is paused.')
  resume(@CurrentAuthor() author: Author, @Body() body: RouteNameDto): Promise<RoutePauseDto> {
    return this.admin.resume(author, body);
  }
}
