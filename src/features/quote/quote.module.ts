import { Module } from '@nestjs/common';
import { AnswersModule } from '../../core/answers/answers.module.js';
import { QuoteController } from './quote.controller.js';

@Module({ imports: [AnswersModule], controllers: [QuoteController] })
export class QuoteModule {}
