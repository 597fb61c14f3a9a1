import { Module } from '@nestjs/common';
import { AdminKeysController } from './keys/admin-keys.controller.js';
import { WhoamiController } from './whoami/whoami.controller.js';

/** What operators do over HTTP. Each folder is a small feature, named after its path below `/v1/admin`. */
@Module({ controllers: [AdminKeysController, WhoamiController] })
export class AdminModule {}
