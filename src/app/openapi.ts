import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import { pageHeadersMiddleware } from '../platform/http/standard-headers.js';
import { ErrorResponseDto } from '../platform/errors/error-response.js';

/** Serves Swagger UI at `/docs` and the OpenAPI description at `/docs-json`. */
export function setUpOpenApi(application: INestApplication): void {
  application.use('/docs', pageHeadersMiddleware);
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
function describeApi(application: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Model Gateway')
    .setDescription(
      'One API between applications and model vendors, with fallback and an exact prepaid ledger. ' +
        'Press **Authorize** and paste a key (`sk-…` for models, `sk-mgmt-…` for the account). ' +
        'Amounts are credits: 1 credit = 0.000001 USD.',
    )
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'sk-…' })
    .addApiKey({ type: 'apiKey', in: 'header', name: 'x-api-key' }, 'x-api-key')
    .addTag('Inference', 'Calls to models. They need a routing key and cost credits.')
    .addTag('Artifacts', 'What jobs have made, under signed URLs; no key needed.')
    .addTag('Jobs', 'Images, videos and long speech, made in the background.')
    .addTag('Catalogue', 'Models, their prices, and the providers that serve them.')
    .addTag('Generation', 'What one request used and cost.')
    .addTag('Customer', "The tenant's own account: keys and request logs.")
    .addTag('Credits', 'Balance and spend.')
    .addTag('Operations', 'Health of the service; no key needed.')
    .build();
  const document = SwaggerModule.createDocument(application, config, {
    extraModels: [ErrorResponseDto],
  });
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = operations[method];
      if (operation) complete(operation, method, path);
    }
  }
  return document;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/**
 * What every operation has: an id made of its method and path, since one handler may serve several
 * paths and generated clients need distinct names, and the answer for a failure of our own.
 */
function complete(operation: OperationObject, method: string, path: string): void {
  const words = path.match(/[A-Za-z0-9]+/g) ?? [];
  operation.operationId =
    method + words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join('');
  operation.responses['500'] ??= {
    description: 'The gateway failed; report the x-request-id.',
    content: { 'application/json': { schema: { $ref: getSchemaPath(ErrorResponseDto) } } },
  };
}

type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
