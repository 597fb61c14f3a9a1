import { readFile } from 'node:fs/promises';
import { NestFactory } from '@nestjs/core';
import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, getSchemaPath, type OpenAPIObject } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { once } from '../canonical/once.js';
import { ADMIN_SCHEME } from '../core/access/operator.decorator.js';
import { pageHeadersMiddleware } from '../platform/http/standard-headers.js';
import { sendJson } from '../platform/http/send-body.js';
import { LiveSettings } from '../platform/config/live-settings.js';
import { ErrorResponseDto } from '../platform/errors/error-response.js';
import { LeanExpressAdapter } from '../platform/http/lean-express.adapter.js';
import { AppModule } from './app.module.js';
import { loadSettings } from './load-settings.js';
import { nameSchemas } from './openapi-schemas.js';

const DESCRIPTION = '/docs-json';
/** Written by the build, where it delays no request. */
const BUILT = new URL('../../openapi.json', import.meta.url);
/** The page fetches the description itself, so its script does not embed a megabyte on each visit. */
const NO_DOCUMENT = undefined as unknown as OpenAPIObject;

/**
 * Serves Swagger UI at `/docs` and the OpenAPI description at `/docs-json`. Neither needs a key, so
 * both only send prepared bytes.
 */
export function setUpOpenApi(application: INestApplication): void {
  application.use('/docs', pageHeadersMiddleware);
  // Unbuilt sources have no file, so the description is generated.
  const describe = once(() =>
    readFile(BUILT).catch(() => Buffer.from(JSON.stringify(describeApi(application)))),
  );
  const send = async (_request: Request, response: Response): Promise<void> => {
    sendJson(response, 200, await describe());
  };
  application.getHttpAdapter().get(DESCRIPTION, send);
  SwaggerModule.setup('docs', application, () => NO_DOCUMENT, {
    customSiteTitle: 'Model Gateway',
    raw: false,
    swaggerUrl: DESCRIPTION,
    swaggerOptions: {
      persistAuthorization: true,
      tryItOutEnabled: true,
      displayRequestDuration: true,
      filter: true,
    },
  });
}

/**
 * Generates the description from the code alone: reads no settings, opens no database, does not
 * listen, and creates no providers.
 */
export async function describeWithoutService(): Promise<OpenAPIObject> {
  const settings = new LiveSettings(loadSettings({}));
  const application = await NestFactory.create(
    AppModule.forRoot(settings, 'postgres://none'),
    new LeanExpressAdapter(),
    { preview: true, logger: false, abortOnError: false },
  );
  return describeApi(application);
}

/**
 * Generates the OpenAPI 3.1 description, with each operation under its canonical path. Takes half a
 * second.
 *
 * @throws Error when two different schemas have the same name
 */
function describeApi(application: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Model Gateway')
    .setDescription(
      'One API between applications and model vendors, with fallback and an exact prepaid ledger.\n\n' +
        '**To try the API on this page, press Authorize first** (the button with the lock, above the first ' +
        'operation) and paste a key. The first `npm start` prints three: `API key: sk-…` calls models, ' +
        "`Management key: sk-mgmt-…` manages the account, and `Admin key: sk-admin-…` is the operator's; `npm run gateway -- key create <tenant>` creates " +
        'another one. Clients send it as `Authorization: Bearer <key>`; Messages API clients ' +
        'may send `x-api-key` instead. Only Operations, Artifacts and Login need no key. Pages of this origin may use a session instead of a key, except to call models: see Login.\n\n' +
        'Each operation is listed once; its other paths are in `x-aliases`. ' +
        'Amounts are credits: 1 credit = 0.000001 USD.',
    )
    .setVersion('1')
    .addServer('/', 'This gateway')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      description:
        'The key alone, without the word Bearer: `sk-…` for models, `sk-mgmt-…` for the account.',
    })
    .addBearerAuth(
      {
        type: 'http',
        scheme: 'bearer',
        description: "An operator's key alone: `sk-admin-…`. Valid only under `/v1/admin`.",
      },
      ADMIN_SCHEME,
    )
    .addCookieAuth(
      'gateway_session',
      {
        type: 'apiKey',
        description:
          'The session of a person who logged in. Under `/v1/customer` and `/v1/admin` it replaces a key, within the rights of its role; changes need `X-CSRF-Token`.',
      },
      'session',
    )
    .addSecurityRequirements('bearer')
    .addTag('Inference', 'Calls to models. They need a routing key and cost credits.')
    .addTag('Artifacts', 'Files created by jobs, under signed URLs. No key needed.')
    .addTag('Jobs', 'Images, videos and long speech, generated in the background.')
    .addTag('Catalogue', 'Models, their prices, and the providers that serve them.')
    .addTag('Generation', 'Usage and cost of one request.')
    .addTag('Customer', "The tenant's own account: keys and request logs.")
    .addTag('Credits', 'Balance and spend.')
    .addTag('Admin', "Operators' view of all tenants. Needs an operator's key: `sk-admin-…`.")
    .addTag('Login', "People's sessions, for web pages of this origin. No key needed.")
    .addTag('Operations', 'Health of the service. No key needed.')
    .build();
  const document = SwaggerModule.createDocument(application, config, {
    extraModels: [ErrorResponseDto],
  });
  document.paths = withoutAliases(document.paths);
  return nameSchemas(document);
}

/**
 * Keeps each operation at the first of its handler's paths, so that generated clients have one
 * function for it, and completes it.
 */
function withoutAliases(paths: Paths): Paths {
  const canonical = new Map<string, OperationObject>();
  const kept: Paths = {};
  for (const [path, operations] of Object.entries(paths)) {
    for (const method of METHODS) {
      const operation: OperationObject | undefined = operations[method];
      if (!operation) continue;
      const id = operation.operationId ?? `${method} ${path}`;
      const known = canonical.get(id);
      if (known) {
        (known['x-aliases'] ??= []).push(path);
      } else {
        canonical.set(id, operation);
        complete(operation);
        kept[path] = { ...kept[path], [method]: operation };
      }
    }
  }
  return kept;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Marks operations without a key as such, and adds the gateway's own failure to all. */
function complete(operation: OperationObject): void {
  operation.security ??= [];
  operation.responses['500'] ??= {
    description: 'The gateway failed. Report the x-request-id.',
    content: { 'application/json': { schema: { $ref: getSchemaPath(ErrorResponseDto) } } },
  };
}

type Paths = OpenAPIObject['paths'];

type OperationObject = NonNullable<Paths[string]['get']> & { 'x-aliases'?: string[] };
