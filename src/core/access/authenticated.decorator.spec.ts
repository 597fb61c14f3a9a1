import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { APP_CONFIG } from '../../platform/config/app-config.js';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { loadConfig } from '../../platform/config/load-config.js';
import { ContentionWindow } from '../../platform/queue/contention-window.js';
import { BodyBudget } from '../../platform/http/body-budget.js';
import { SessionGate } from './sessions/session-gate.service.js';
import { ClientNetworks } from './client-networks.js';
import { FairStarts } from './fair-starts.js';
import { InFlightLimiter } from './in-flight-limiter.js';
import { WrongKeys } from './wrong-keys.js';
import { Customer } from './customer.decorator.js';
import { Inference } from './authenticated.decorator.js';
import { KeyDirectory } from './key-directory.service.js';
import { RateLimiter } from './rate-limiters.js';

@Controller('inference')
class InferenceController {
  @Post('plain')
  @Inference()
  plain(): void {}

  @Post('messages')
  @Inference({ acceptsXApiKey: true })
  messages(): void {}
}

@Controller('customer')
@Customer()
class CustomerController {
  @Get()
  read(): void {}
}

@Module({
  controllers: [InferenceController, CustomerController],
  providers: [
    { provide: KeyDirectory, useValue: {} },
    { provide: SessionGate, useValue: {} },
    { provide: RateLimiter, useValue: {} },
    { provide: APP_CONFIG, useValue: loadConfig({}, []) },
    { provide: ContentionWindow, useValue: new ContentionWindow() },
    { provide: BodyBudget, useValue: new BodyBudget(1_000) },
    { provide: InFlightLimiter, useValue: new InFlightLimiter(loadConfig({}, [])) },
    FairStarts,
    ClientNetworks,
    WrongKeys,
  ],
})
class DocumentedModule {}

describe(Inference.name, () => {
  it('documents the security scheme and the error responses', async () => {
    const testing = await Test.createTestingModule({ imports: [DocumentedModule] }).compile();
    const document = SwaggerModule.createDocument(
      testing.createNestApplication(),
      new DocumentBuilder().build(),
    );
    const plain = document.paths['/inference/plain']?.post;
    const messages = document.paths['/inference/messages']?.post;
    const customer = document.paths['/customer']?.get;

    expect(plain?.security).toEqual([{ bearer: [] }]);
    expect(Object.keys(plain?.responses ?? {})).toEqual(
      expect.arrayContaining(['401', '403', '429']),
    );
    // A second security scheme would be misread as required too, so the description mentions the other header.
    expect(messages?.security).toEqual([{ bearer: [] }]);
    expect(customer?.security).toEqual([{ bearer: [] }]);
    expect(Object.keys(customer?.responses ?? {})).toContain('401');
    expect(plain?.responses['429']).toMatchObject({
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/ErrorResponseDto' } },
      },
    });
  });
});
