import { Global, Module } from '@nestjs/common';
import { WorkEngine } from './work-engine.js';

@Global()
@Module({ providers: [WorkEngine], exports: [WorkEngine] })
export class WorkModule {}
