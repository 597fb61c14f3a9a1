import { Module } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { publicConnector } from '../../platform/http/public-address.js';
import { UpstreamModule } from '../../vendors/upstream.module.js';
import { CredentialDirectory } from './credential-directory.service.js';
import { CredentialRepository } from './credential.repository.js';
import { CredentialSeal } from './credential-seal.service.js';
import { CredentialUseLog } from './credential-use.log.js';
import { OwnUpstreams, OwnAccountTransport } from './own-upstreams.service.js';

/** Tenants' own accounts with providers. */
@Module({
  imports: [UpstreamModule],
  providers: [
    CredentialDirectory,
    CredentialRepository,
    CredentialSeal,
    CredentialUseLog,
    {
      provide: OwnAccountTransport,
      inject: [APP_CONFIG],
      useFactory: ({ limits, allowPrivateDestinations }: AppConfig) =>
        new OwnAccountTransport(
          limits.connectTimeoutMs,
          publicConnector({
            timeoutMs: limits.connectTimeoutMs,
            allowPrivate: allowPrivateDestinations,
          }),
        ),
    },
    OwnUpstreams,
  ],
  exports: [
    CredentialDirectory,
    CredentialRepository,
    CredentialSeal,
    CredentialUseLog,
    OwnUpstreams,
  ],
})
export class CredentialsModule {}
