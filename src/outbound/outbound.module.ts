import { Module } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../common/config/app-config.js';
import { OutboundClient } from './outbound-client.js';

@Module({
  providers: [
    {
      provide: OutboundClient,
      useFactory: ({ allowPrivateDestinations }: AppConfig) =>
        new OutboundClient({ allowPrivate: allowPrivateDestinations }),
      inject: [APP_CONFIG],
    },
  ],
  exports: [OutboundClient],
})
export class OutboundModule {}
