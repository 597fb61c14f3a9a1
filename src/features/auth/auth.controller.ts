import { Body, Controller, Get, Header, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ApiFields, ApiFilters } from '../../core/access/customer.decorator.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { cookieSetter } from '../../platform/http/cookies.js';
import { ReadsJsonBody } from '../../platform/http/read-json-body.js';
import {
  KeyLoginDto,
  LinkLoginDto,
  LoginMethodsDto,
  LoginQueryDto,
  SessionDto,
} from './auth.dto.js';
import { AuthService } from './auth.service.js';

/** Keys and tokens are short, and the caller is unauthenticated. */
const MAX_BODY_BYTES = 10_000;
const NO_STORE = ['cache-control', 'no-store'] as const;

@ApiTags('Login')
@Controller('v1/auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Get()
  @Header(...NO_STORE)
  @ApiOperation({ operationId: 'listLoginMethods', summary: 'List login methods' })
  @ApiOkResponse({ type: LoginMethodsDto })
  methods(@Req() request: GatewayRequest): LoginMethodsDto {
    return {
      oidc: this.auth.hasIssuer,
      key: true,
      has_session_cookie: this.auth.carriesSession(request),
    };
  }

  @Get('login')
  @Header(...NO_STORE)
  @ApiOperation({
    operationId: 'beginLogin',
    summary: 'Log in through the login service',
    description:
      'For browsers. Redirects to the OpenID Connect issuer (`GATEWAY_OIDC_ISSUER`), from there to ' +
      '`/v1/auth/callback`, and with a session to `return_to`.',
  })
  @ApiResponse({ status: 302, description: "Redirects to the issuer's page." })
  @ApiFilters()
  @ApiErrorResponse(404, 'No issuer is configured.')
  @ApiErrorResponse(503, 'The issuer is unavailable; see `Retry-After`.')
  async begin(
    @Req() request: GatewayRequest,
    @Res() response: Response,
    @Query() { return_to: returnTo }: LoginQueryDto,
  ): Promise<void> {
    response.redirect(302, await this.auth.begin(request, cookieSetter(response), returnTo));
  }

  @Get('callback')
  @Header(...NO_STORE)
  @ApiOperation({
    operationId: 'finishLogin',
    summary: 'Return from the login service',
    description:
      "The redirect URI to register at the issuer. Opens a session, in the `HttpOnly` cookie `gateway_session` (`__Host-gateway_session` over https), and ends the browser's previous one.",
  })
  @ApiResponse({ status: 303, description: 'Redirects to `return_to` with the session.' })
  @ApiErrorResponse(400, 'The login was not started in this browser, or has expired.')
  @ApiErrorResponse(401, 'The issuer did not confirm the login.')
  @ApiErrorResponse(403, 'The person has no role and no invitation, or is disabled.')
  @ApiErrorResponse(404, 'No issuer is configured.')
  @ApiErrorResponse(429, 'Too many failed logins from this address; see `Retry-After`.')
  @ApiErrorResponse(503, 'The issuer or the database is unavailable; see `Retry-After`.')
  async finish(@Req() request: GatewayRequest, @Res() response: Response): Promise<void> {
    response.redirect(303, await this.auth.finish(request, cookieSetter(response)));
  }

  @Post('key')
  @HttpCode(200)
  @Header(...NO_STORE)
  @ReadsJsonBody(MAX_BODY_BYTES)
  @ApiOperation({
    operationId: 'loginWithKey',
    summary: 'Log in with a key',
    description:
      'A management key (`sk-mgmt-…`) opens a session with its rights for its tenant, an admin key (`sk-admin-…`) an operator session. The session ends with the key.',
  })
  @ApiOkResponse({ type: SessionDto })
  @ApiFields(KeyLoginDto, { 'A management key': { key: 'sk-mgmt-4fR9…x2Qa' } })
  @ApiLoginErrors()
  byKey(
    @Req() request: GatewayRequest,
    @Res({ passthrough: true }) response: Response,
    @Body() { key }: KeyLoginDto,
  ): Promise<SessionDto> {
    return this.auth.byKey(request, cookieSetter(response), key);
  }

  @Post('link')
  @HttpCode(200)
  @Header(...NO_STORE)
  @ReadsJsonBody(MAX_BODY_BYTES)
  @ApiOperation({
    operationId: 'loginWithLink',
    summary: 'Log in with a login link',
    description:
      '`npm run gateway -- login-link` and the first start print a link that opens one admin session within ten minutes. The token is the part after `#link=`.',
  })
  @ApiOkResponse({ type: SessionDto })
  @ApiFields(LinkLoginDto, {
    'A token': { token: 'mb0ck3VhV9pW8Jr0dV7l2n4Xq6sT1uYzA5bC8dE3fGh' },
  })
  @ApiLoginErrors()
  byLink(
    @Req() request: GatewayRequest,
    @Res({ passthrough: true }) response: Response,
    @Body() { token }: LinkLoginDto,
  ): Promise<SessionDto> {
    return this.auth.byLink(request, cookieSetter(response), token);
  }
}

function ApiLoginErrors(): MethodDecorator {
  return (...target) => {
    const errors = [
      ApiErrorResponse(401, 'The key or link is unknown or has expired.'),
      ApiErrorResponse(
        403,
        'The key is a routing key, or the request comes from a page of another origin.',
      ),
      ApiErrorResponse(429, 'Too many failed logins from this address; see `Retry-After`.'),
      ApiErrorResponse(503, 'The database is unavailable; see `Retry-After`.'),
    ];
    for (const decorate of errors) decorate(...target);
  };
}
