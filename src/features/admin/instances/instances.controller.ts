import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Operator } from '../../../core/access/operator.decorator.js';
import { InstanceListDto } from './instances.dto.js';
import { InstancesAdmin } from './instances.service.js';

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/instances')
export class InstancesController {
  constructor(private readonly instances: InstancesAdmin) {}

  @Get()
  @ApiOperation({
    operationId: 'listInstances',
    summary: 'List the running instances',
    description:
      'Returns what each instance runs, its state at the last heartbeat, and how it differs from the ' +
      'majority. Always returns the whole list.',
  })
  @ApiOkResponse({ type: InstanceListDto })
  list(): Promise<InstanceListDto> {
    return this.instances.list();
  }
}
