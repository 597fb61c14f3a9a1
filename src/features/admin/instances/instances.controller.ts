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
    summary: 'List the processes of the service that are alive',
    description:
      'With what each runs, what it is doing as of its last heartbeat, and in what it differs from most ' +
      'of the others. They are few, so the list is always whole.',
  })
  @ApiOkResponse({ type: InstanceListDto })
  list(): Promise<InstanceListDto> {
    return this.instances.list();
  }
}
