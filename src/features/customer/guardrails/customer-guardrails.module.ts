import { Module } from '@nestjs/common';
import { GuardrailsModule } from '../../../core/guardrails/guardrails.module.js';
import { CustomerGuardrailsController } from './customer-guardrails.controller.js';
import { CustomerGuardrailsService } from './customer-guardrails.service.js';

/** The tenant's own guardrails: `/v1/customer/guardrails`. */
@Module({
  imports: [GuardrailsModule],
  controllers: [CustomerGuardrailsController],
  providers: [CustomerGuardrailsService],
})
export class CustomerGuardrailsModule {}
