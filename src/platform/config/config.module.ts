import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_CONFIG } from './app-config.js';
import { LiveSettings } from './live-settings.js';

/** Gives the one AppConfig to whoever asks for it; what of it may change is read at each use. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(settings: LiveSettings): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: LiveSettings, useValue: settings },
        { provide: APP_CONFIG, useValue: settings.config },
      ],
      exports: [APP_CONFIG, LiveSettings],
    };
  }
}
