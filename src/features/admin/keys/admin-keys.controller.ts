import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { AdminKeyDirectory } from '../../../core/access/admin-key-directory.service.js';
import type { AdminKeyEntity } from '../../../core/access/admin-key.entity.js';
import { AdminKeyRepository } from '../../../core/access/admin-keys.repository.js';
import { AdminKeysService } from '../../../core/tenants/admin-keys.service.js';
import { apiKeyStatus } from '../../../core/access/api-key.entity.js';
import { readExpiry } from '../../../core/access/api-key.js';
import { CurrentAuthor, type Author } from '../../../core/access/author.js';
import { ApiFields, ApiFilters } from '../../../core/access/customer.decorator.js';
import { Operator } from '../../../core/access/operator.decorator.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import { ApiErrorResponse } from '../../../platform/errors/error-response.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import {
  CursorPageQueryDto,
  readCursor,
  toCursorPage,
} from '../../../platform/http/cursor-page.js';
import { ReadsJsonBody } from '../../../platform/http/read-json-body.js';
import {
  AdminKeyListDto,
  CreateAdminKeyDto,
  CreatedAdminKeyDto,
  AdminKeyDto,
} from './admin-keys.dto.js';

const NO_SUCH_KEY = 'There is no admin key with this id.';

@ApiTags('Admin')
@Operator()
@Controller('v1/admin/keys')
export class AdminKeysController {
  constructor(
    private readonly keys: AdminKeysService,
    private readonly rows: AdminKeyRepository,
    private readonly directory: AdminKeyDirectory,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'listAdminKeys', summary: 'List admin keys' })
  @ApiOkResponse({ type: AdminKeyListDto })
  @ApiFilters()
  async list(@Query() { limit, cursor }: CursorPageQueryDto): Promise<AdminKeyListDto> {
    const rows = await this.rows.page(limit + 1, readCursor(cursor, ['time', 'uuid']));
    return toCursorPage(rows, limit, ({ createdAt, id }) => [createdAt, id], toAdminKey);
  }

  @Post()
  @ReadsJsonBody()
  @ApiOperation({
    operationId: 'createAdminKey',
    summary: 'Create an admin key',
    description: 'Only this response contains the key.',
  })
  @ApiCreatedResponse({ type: CreatedAdminKeyDto })
  @ApiFields(CreateAdminKeyDto, {
    'A key with full access': { name: 'console', role: 'admin' },
    'A read-only key for a month': {
      name: 'yearly audit',
      role: 'auditor',
      expires_at: '2030-12-31T23:59:59Z',
    },
  })
  async create(
    @CurrentAuthor() author: Author,
    @Body() { name, role, expires_at: expiry }: CreateAdminKeyDto,
  ): Promise<CreatedAdminKeyDto> {
    const expiresAt = readExpiry(expiry) ?? null;
    const key = await this.keys.create(author, { name, role, expiresAt });
    return { ...toAdminKey(key), key: key.plaintext };
  }

  @Get(':id')
  @ApiOperation({ operationId: 'getAdminKey', summary: 'Get an admin key' })
  @ApiOkResponse({ type: AdminKeyDto })
  @ApiParam({ name: 'id', format: 'uuid' })
  @ApiErrorResponse(404, NO_SUCH_KEY)
  async get(@Param('id') id: string): Promise<AdminKeyDto> {
    return toAdminKey(found(isUuid(id) ? await this.rows.findById(id) : undefined));
  }

  @Delete(':id')
  @ApiOperation({
    operationId: 'revokeAdminKey',
    summary: 'Revoke an admin key',
    description:
      'Takes effect at once, and on other instances within a second. The key stays listed as revoked. ' +
      'Idempotent.',
  })
  @ApiOkResponse({ type: AdminKeyDto })
  @ApiParam({ name: 'id', format: 'uuid' })
  @ApiErrorResponse(404, NO_SUCH_KEY)
  @ApiErrorResponse(409, 'It is the last active admin key.')
  async revoke(@CurrentAuthor() author: Author, @Param('id') id: string): Promise<AdminKeyDto> {
    const key = found(isUuid(id) ? await this.keys.revoke(author, id, false) : undefined);
    this.directory.forget(id);
    return toAdminKey(key);
  }
}

function found(key: AdminKeyEntity | undefined): AdminKeyEntity {
  if (key) return key;
  throw new NotFoundError('id', NO_SUCH_KEY);
}

function toAdminKey(key: AdminKeyEntity): AdminKeyDto {
  return {
    id: key.id,
    name: key.name,
    key_preview: key.keyPreview,
    role: key.role,
    status: apiKeyStatus(key, Date.now()),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
  };
}
