import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentAuthor, type Author } from '../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../core/access/customer.decorator.js';
import { Operator } from '../../core/access/operator.decorator.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { ReadsJsonBody } from '../../platform/http/read-json-body.js';
import { OPERATOR_PRESETS } from './alert-presets.js';
import { AlertsService } from './alerts.service.js';
import {
  AlertDto,
  AlertEventPageDto,
  AlertEventQueryDto,
  AlertListDto,
  AlertTestDto,
  CreateAlertDto,
  DeletedAlertDto,
  UpdateAlertDto,
} from './alerts.dto.js';

const ID = { name: 'id', format: 'uuid' };
const UNKNOWN = 'The operator has no alert with this id.';
/** A field as an error names it. */
const FIELD = 'condition.tenant_id';
/** All operators have the same alerts. */
const OPERATOR = null;

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/alerts')
export class AdminAlertsController {
  constructor(private readonly alerts: AlertsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listOperatorAlerts',
    summary: "List the operator's alerts",
    description:
      'With `presets`: alerts that most want, offered and not made. Alerts of tenants are not among them.',
  })
  @ApiOkResponse({ type: AlertListDto })
  async list(): Promise<AlertListDto> {
    return { data: await this.alerts.list(OPERATOR), presets: OPERATOR_PRESETS };
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createOperatorAlert',
    summary: 'Be told of something over all tenants, or of one of them',
    description:
      'It is looked for every 15 seconds and told within a minute, once in its period, and once more when it is over.',
  })
  @ApiCreatedResponse({ type: AlertDto })
  @ApiFields(
    CreateAlertDto,
    {
      'A vendor fails': {
        name: 'A vendor fails',
        kind: 'vendor_unhealthy',
        url: 'https://hooks.example.com/alerts',
      },
      'A tenant has less than 1 USD left': {
        name: 'Credits run out',
        kind: 'balance_below',
        condition: { credits: 1_000_000 },
        url: 'https://hooks.example.com/alerts',
      },
    },
    FIELD,
  )
  create(@CurrentAuthor() author: Author, @Body() body: CreateAlertDto): Promise<AlertDto> {
    return this.alerts.create({ caller: OPERATOR, author }, body);
  }

  @Get(':id')
  @ApiOperation({ operationId: 'getOperatorAlert', summary: "Read an alert of the operator's" })
  @ApiOkResponse({ type: AlertDto })
  @ApiParam(ID)
  @ApiErrorResponse(404, UNKNOWN)
  get(@Param('id') id: string): Promise<AlertDto> {
    return this.alerts.get(OPERATOR, id);
  }

  @Patch(':id')
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'updateOperatorAlert',
    summary: "Change an alert of the operator's",
    description:
      'What is left out stays as it is; `condition` is replaced as a whole. With another condition, or when it is turned off, what was the case before is forgotten.',
  })
  @ApiOkResponse({ type: AlertDto })
  @ApiFields(UpdateAlertDto, { 'Off for now': { enabled: false } }, FIELD)
  @ApiParam(ID)
  @ApiErrorResponse(404, UNKNOWN)
  update(
    @CurrentAuthor() author: Author,
    @Param('id') id: string,
    @Body() body: UpdateAlertDto,
  ): Promise<AlertDto> {
    return this.alerts.update({ caller: OPERATOR, author }, id, body);
  }

  @Delete(':id')
  @ApiOperation({
    operationId: 'deleteOperatorAlert',
    summary: "Delete an alert of the operator's, and what it has still to tell",
  })
  @ApiOkResponse({ type: DeletedAlertDto })
  @ApiParam(ID)
  @ApiErrorResponse(404, UNKNOWN)
  delete(@CurrentAuthor() author: Author, @Param('id') id: string): Promise<DeletedAlertDto> {
    return this.alerts.delete({ caller: OPERATOR, author }, id);
  }

  @Post(':id/test')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'testOperatorAlert',
    summary: "Send a made-up message to where an alert of the operator's goes",
    description: 'Once, without retries; the answer tells how it went.',
  })
  @ApiOkResponse({ type: AlertTestDto })
  @ApiParam(ID)
  @ApiErrorResponse(404, UNKNOWN)
  @ApiErrorResponse(429, 'Another test is under way.')
  test(@CurrentAuthor() author: Author, @Param('id') id: string): Promise<AlertTestDto> {
    return this.alerts.test({ caller: OPERATOR, author }, id);
  }
}

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/alert-events')
export class AdminAlertEventsController {
  constructor(private readonly alerts: AlertsService) {}

  @Get()
  @ApiOperation({
    operationId: 'listOperatorAlertEvents',
    summary:
      "List what the operator's alerts told in the last 90 days, and how the deliveries went",
  })
  @ApiOkResponse({ type: AlertEventPageDto })
  @ApiFilters()
  list(@Query() query: AlertEventQueryDto): Promise<AlertEventPageDto> {
    return this.alerts.listEvents(OPERATOR, query);
  }
}
