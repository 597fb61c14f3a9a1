import { Controller, Delete, Get, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import {
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import type { Response } from 'express';
import { authorOf } from '../../core/access/author.js';
import type { GatewayRequest } from '../../core/access/gateway-request.js';
import { AuditLog } from '../../core/audit/audit-log.js';
import { SessionGate } from '../../core/access/sessions/session-gate.service.js';
import { SessionRepository } from '../../core/access/sessions/session.repository.js';
import type { Session } from '../../core/access/sessions/session.js';
import { Database } from '../../platform/database/database.js';
import { isUuid } from '../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../platform/errors/error-response.js';
import { InternalError, NotFoundError } from '../../platform/errors/gateway-errors.js';
import { cookieSetter } from '../../platform/http/cookies.js';
import { AuthService, describeSession } from './auth.service.js';
import { SessionDto, SessionListDto } from './auth.dto.js';
import { LoggedIn } from './session.guard.js';

@ApiTags('Login')
@LoggedIn()
@Controller('v1/auth')
export class SessionsController {
  constructor(
    private readonly auth: AuthService,
    private readonly gate: SessionGate,
    private readonly sessions: SessionRepository,
    private readonly database: Database,
    private readonly audit: AuditLog,
  ) {}

  @Get('session')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'getSession',
    summary: 'Get the current session',
    description: 'Roles, tenants, and the `csrf_token` that changing requests need.',
  })
  @ApiOkResponse({ type: SessionDto })
  current(@Req() request: GatewayRequest): SessionDto {
    return describeSession(sessionOf(request));
  }

  @Post('logout')
  @HttpCode(204)
  @ApiOperation({ operationId: 'logOut', summary: 'End the session' })
  @ApiNoContentResponse({ description: 'The session has ended and its cookie is deleted.' })
  async logOut(
    @Req() request: GatewayRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.end(request, sessionOf(request).id);
    this.auth.clearSession(cookieSetter(response));
  }

  @Get('sessions')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    operationId: 'listSessions',
    summary: 'List your open sessions',
    description: 'Sessions of the same person or key. A login link session is listed alone.',
  })
  @ApiOkResponse({ type: SessionListDto })
  async list(@Req() request: GatewayRequest): Promise<SessionListDto> {
    const session = sessionOf(request);
    const rows = await this.sessions.listOpen(session);
    return {
      data: rows.map(({ id, userAgent, createdAt, lastSeenAt, expiresAt }) => ({
        id,
        is_current: id === session.id,
        user_agent: userAgent,
        created_at: createdAt.toISOString(),
        last_seen_at: lastSeenAt.toISOString(),
        expires_at: expiresAt.toISOString(),
      })),
    };
  }

  @Delete('sessions')
  @HttpCode(204)
  @ApiOperation({ operationId: 'logOutEverywhere', summary: 'End all your sessions' })
  @ApiNoContentResponse({ description: 'All sessions have ended, including this one.' })
  async endAll(
    @Req() request: GatewayRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.end(request, undefined);
    this.auth.clearSession(cookieSetter(response));
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  @ApiOperation({ operationId: 'endSession', summary: 'End one of your sessions' })
  @ApiParam({ name: 'id', format: 'uuid' })
  @ApiNoContentResponse({ description: 'The session has ended.' })
  @ApiErrorResponse(404, 'You have no open session with this id.')
  async endOne(@Req() request: GatewayRequest, @Param('id') id: string): Promise<void> {
    const ended = isUuid(id) ? await this.end(request, id) : 0;
    if (ended === 0) throw new NotFoundError('id', 'You have no open session with this id.');
  }

  /** @returns the number of ended sessions */
  private async end(request: GatewayRequest, id: string | undefined): Promise<number> {
    const session = sessionOf(request);
    const ended = await this.database.transaction(async (transaction) => {
      const ids = await this.sessions.revoke(session, id, transaction);
      for (const each of ids) {
        await this.audit.record(transaction, authorOf(request), {
          tenantId: session.key?.caller.tenantId ?? null,
          action: 'session.delete',
          target: { type: 'session', id: each },
          before: { [`${session.owner.kind}_id`]: session.owner.id },
          after: null,
        });
      }
      return ids;
    });
    this.gate.forget(ended);
    return ended.length;
  }
}

function sessionOf({ session }: GatewayRequest): Session {
  if (!session) throw new InternalError({ cause: new Error('The handler lacks @LoggedIn') });
  return session;
}
