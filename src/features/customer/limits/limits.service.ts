import { Injectable } from '@nestjs/common';
import { readEndUser } from '../../../canonical/end-user.js';
import type { Limits } from '../../../canonical/limits.js';
import type { Author } from '../../../core/access/author.js';
import type { Caller } from '../../../core/access/caller.js';
import { BudgetReader, UNUSED } from '../../../core/ledger/budget.reader.js';
import type { BothLimitsDto, LimitsDto } from '../../../core/limits/limits.dto.js';
import { LimitsService, toState } from '../../../core/limits/limits.service.js';
import { refuseMore, toLimits } from '../../../core/limits/to-limits.js';
import { fromStoredText, toStoredText } from '../../../platform/database/stored-text.js';
import { NotFoundError } from '../../../platform/errors/gateway-errors.js';
import {
  readCursor,
  toCursorPage,
  type CursorPageQueryDto,
} from '../../../platform/http/cursor-page.js';
import type { EachEndUserDto, EndUserDto, EndUserListDto } from './limits.dto.js';

/** Limits that a tenant sets for itself and its end users. */
@Injectable()
export class CustomerLimitsService {
  constructor(
    private readonly limits: LimitsService,
    private readonly uses: BudgetReader,
  ) {}

  async ofTenant({ tenantId }: Caller): Promise<BothLimitsDto> {
    const tenant = await this.limits.ofTenant(tenantId);
    const [described] = tenant ? await this.limits.describe(tenantId, 'tenant', [tenant]) : [];
    if (!described) throw new NotFoundError('id', 'The tenant does not exist.');
    return described;
  }

  async setOfTenant(author: Author, caller: Caller, body: LimitsDto): Promise<BothLimitsDto> {
    const { tenantId } = caller;
    const wanted = toLimits(body);
    const { operatorLimits } = (await this.limits.ofTenant(tenantId)) ?? {};
    refuseMore(wanted, operatorLimits ? [operatorLimits] : [], '', "the operator's limit");
    await this.limits.set(author, 'tenant', { tenantId, id: tenantId }, 'tenant', wanted);
    return this.ofTenant(caller);
  }

  async ofEachEndUser({ tenantId }: Caller): Promise<EachEndUserDto> {
    const limits = await this.limits.ofEachEndUser(tenantId);
    return { limits: toState(limits, { ...UNUSED, now: new Date() }) };
  }

  async setForEachEndUser(
    author: Author,
    caller: Caller,
    body: LimitsDto,
  ): Promise<EachEndUserDto> {
    const wanted = toLimits(body);
    await this.limits.setForEachEndUser(author, caller.tenantId, wanted);
    return this.ofEachEndUser(caller);
  }

  async listEndUsers(
    { tenantId }: Caller,
    { limit, cursor }: CursorPageQueryDto,
  ): Promise<EndUserListDto> {
    const after = readCursor(cursor, ['text'])?.[0];
    const rows = await this.limits.listEndUsers(tenantId, { limit: limit + 1, after });
    const page = toCursorPage(
      rows,
      limit,
      ({ id }) => [id],
      (row) => row,
    );
    return { ...page, data: await this.describe(tenantId, page.data) };
  }

  async ofEndUser({ tenantId }: Caller, name: string): Promise<EndUserDto> {
    const id = toStoredText(nameOf(name));
    const [known] = await this.limits.listEndUsers(tenantId, { limit: 1, only: id });
    const [described] = await this.describe(tenantId, [known ?? { id, limits: null }]);
    return described!;
  }

  /** @param body undefined removes the end user's own limits */
  async setForEndUser(
    author: Author,
    caller: Caller,
    name: string,
    body: LimitsDto | undefined,
  ): Promise<EndUserDto> {
    if (body === undefined && !(await this.ofEndUser(caller, name)).has_own_limits) {
      throw new NotFoundError('end_user', 'This end user has no limits of its own.');
    }
    // An empty set of own limits still replaces the default limits.
    const wanted = body === undefined ? null : (toLimits(body) ?? {});
    await this.limits.setForEndUser(author, caller.tenantId, nameOf(name), wanted);
    return this.ofEndUser(caller, name);
  }

  private async describe(
    tenantId: string,
    rows: readonly { id: string; limits: Limits | null }[],
  ): Promise<EndUserDto[]> {
    const each = await this.limits.ofEachEndUser(tenantId);
    const names = rows.map(({ id }) => fromStoredText(id));
    const subjects = names.map((id) => ({ scope: 'end_user' as const, id }));
    const uses = await this.uses.useOf(tenantId, subjects);
    return rows.map(({ limits }, index) => ({
      id: names[index]!,
      has_own_limits: limits !== null,
      limits: toState(limits ?? each, uses[index]),
    }));
  }
}

/** Returns the end user name under which requests with this text are counted. */
function nameOf(text: string): string {
  const name = readEndUser(text);
  if (name === undefined) throw new NotFoundError('end_user', 'The end user name is empty.');
  return name;
}
