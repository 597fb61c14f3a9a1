import { applyDecorators, UseGuards } from '@nestjs/common';
import { Authenticated } from './authenticated.decorator.js';
import { CustomerWritesGuard } from './customer-writes.guard.js';

/** For controllers under `/v1/customer`: any key of the tenant, unless changes are restricted. */
export function Customer(): ClassDecorator & MethodDecorator {
  return applyDecorators(Authenticated('any'), UseGuards(CustomerWritesGuard));
}
