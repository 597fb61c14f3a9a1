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
/** The field in the example of a 400 response. */
const FIELD = 'condition.tenant_id';
/** All operators share the same alerts. */
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
      '`presets` contains suggested alerts that do not exist yet. Does not include alerts of tenants.',
  })
  @ApiOkResponse({ type: AlertListDto })
  async list(): Promise<AlertListDto> {
    return { data: await this.alerts.list(OPERATOR), presets: OPERATOR_PRESETS };
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createOperatorAlert',
    summary: 'Create an alert about one tenant or all of them',
    description:
      'Evaluated every 15 seconds. Sends one notification per period within a minute, and another when the condition ends.',
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
  @ApiOperation({ operationId: 'getOperatorAlert', summary: 'Get an operator alert' })
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
    summary: 'Update an operator alert',
    description:
      'Omitted fields keep their values; `condition` is replaced as a whole. A new condition, or disabling the alert, ends its current state without a notification.',
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
    summary: 'Delete an operator alert and its pending deliveries',
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
    summary: "Send a test message to an operator alert's receiver",
    description: 'Sent once, without retries. The response contains the outcome.',
  })
  @ApiOkResponse({ type: AlertTestDto })
  @ApiParam(ID)
  @ApiErrorResponse(404, UNKNOWN)
  @ApiErrorResponse(429, 'Another test is in progress.')
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
    summary: 'List operator alert events of the last 90 days, with their deliveries',
  })
  @ApiOkResponse({ type: AlertEventPageDto })
  @ApiFilters()
  list(@Query() query: AlertEventQueryDto): Promise<AlertEventPageDto> {
    return this.alerts.listEvents(OPERATOR, query);
  }
}
