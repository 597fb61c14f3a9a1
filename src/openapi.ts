import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';

/** Serves Swagger UI at `/docs` and the OpenAPI description at `/docs-json`. */
export function setUpOpenApi(application: INestApplication): void {
  SwaggerModule.setup('docs', application, () => describeApi(application), {
    customSiteTitle: 'Model Gateway',
    swaggerOptions: {
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
    },
  });
}

/** The OpenAPI description of every path. */
export function describeApi(application: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Model Gateway')
    .setDescription(
      'One API between applications and model vendors, with fallback and an exact prepaid ledger. ' +
        'Press **Authorize** and paste a key (`sk-…` for models, `sk-mgmt-…` for the account). ' +
        'Amounts are credits: 1 credit = 0.000001 USD.',
    )
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'sk-…' })
    .addTag('Inference', 'Calls to models. They need a routing key and cost credits.')
    .addTag('Catalogue', 'Models, their prices, and the providers that serve them.')
    .addTag('Generation', 'What one request used and cost.')
    .addTag('Customer', "The tenant's own account: keys and request logs.")
    .addTag('Credits', 'Balance and spend.')
    .addTag('Operations', 'Health of the service; no key needed.')
    .build();
  return SwaggerModule.createDocument(application, config);
}
