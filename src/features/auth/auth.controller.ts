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

/** Keys and tokens are short, and nobody has shown one yet. */
const MAX_BODY_BYTES = 10_000;
const NO_STORE = ['cache-control', 'no-store'] as const;

@ApiTags('Login')
@Controller('v1/auth')
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Get()
  @Header(...NO_STORE)
  @ApiOperation({ operationId: 'listLoginMethods', summary: 'How one can log in here' })
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
    summary: 'Log in at the login service',
    description:
      'For browsers: leads to the OpenID Connect issuer (`GATEWAY_OIDC_ISSUER`), from there to ' +
      '`/v1/auth/callback`, and with a session to `return_to`.',
  })
  @ApiResponse({ status: 302, description: "To the issuer's page." })
  @ApiFilters()
  @ApiErrorResponse(404, 'No issuer is configured.')
  @ApiErrorResponse(503, 'The issuer does not answer; see `Retry-After`.')
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
    summary: 'Come back from the login service',
    description:
      "The redirect URI to register at the issuer. It opens a session, the `HttpOnly` cookie `gateway_session` (`__Host-gateway_session` over https), and ends the browser's earlier one.",
  })
  @ApiResponse({ status: 303, description: 'To `return_to`, with the session.' })
  @ApiErrorResponse(400, 'The login was not begun in this browser, or too long ago.')
  @ApiErrorResponse(401, 'The issuer did not confirm the login.')
  @ApiErrorResponse(
    403,
    'There is no invitation and no role for this person, or they are disabled.',
  )
  @ApiErrorResponse(404, 'No issuer is configured.')
  @ApiErrorResponse(429, 'Too many failed logins came from this address; see `Retry-After`.')
  @ApiErrorResponse(503, 'The issuer, or the database, does not answer; see `Retry-After`.')
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
      'A management key (`sk-mgmt-…`) gives a session with its rights for its tenant, an admin key (`sk-admin-…`) one of an operator. The session ends when the key does.',
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
      '`npm run gateway -- login-link`, or the first start, prints a link that opens one session of an admin, within ten minutes. The token is what follows `#link=`.',
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
      ApiErrorResponse(401, 'It is unknown, or has ended.'),
      ApiErrorResponse(403, 'The key is a routing key, or a page of another origin asks.'),
      ApiErrorResponse(429, 'Too many wrong ones came from this address; see `Retry-After`.'),
      ApiErrorResponse(503, "The service's database is away; see `Retry-After`."),
    ];
    for (const decorate of errors) decorate(...target);
  };
}
