import { Global, Module, type DynamicModule } from '@nestjs/common';
import { APP_CONFIG } from './app-config.js';
import { LiveSettings } from './live-settings.js';

/** Provides the AppConfig, whose changeable parts are read at each use. */
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
