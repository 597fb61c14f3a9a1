import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ProviderCredentialEntity } from './provider-credential.entity.js';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { publicConnector } from '../../platform/http/public-address.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { CredentialDirectory } from './credential-directory.service.js';
import { CredentialRepository } from './credential.repository.js';
import { CredentialCipher } from './credential-cipher.service.js';
import { CredentialUseLog } from './credential-use.log.js';
import { ByokUpstreams, ByokTransport } from './byok-upstreams.service.js';

/** Provides tenants' BYOK accounts. */
@Module({
  imports: [TypeOrmModule.forFeature([ProviderCredentialEntity]), UpstreamModule],
  providers: [
    CredentialDirectory,
    CredentialRepository,
    CredentialCipher,
    CredentialUseLog,
    {
      provide: ByokTransport,
      inject: [APP_CONFIG],
      useFactory: ({ limits, allowPrivateDestinations }: AppConfig) =>
        new ByokTransport(
          limits.connectTimeoutMs,
          publicConnector({
            timeoutMs: limits.connectTimeoutMs,
            allowPrivate: allowPrivateDestinations,
          }),
        ),
    },
    ByokUpstreams,
  ],
  exports: [
    CredentialDirectory,
    CredentialRepository,
    CredentialCipher,
    CredentialUseLog,
    ByokUpstreams,
  ],
})
export class CredentialsModule {}
