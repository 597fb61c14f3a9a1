import { Module } from '@nestjs/common';
import { CredentialsModule } from '../../../core/credentials/credentials.module.js';
import { ProviderCredentialsController } from './provider-credentials.controller.js';
import { ProviderCredentialsService } from './provider-credentials.service.js';

/** The tenant's own accounts with providers: `/v1/customer/provider-credentials`. */
@Module({
  imports: [CredentialsModule],
  controllers: [ProviderCredentialsController],
  providers: [ProviderCredentialsService],
})
export class ProviderCredentialsModule {}
