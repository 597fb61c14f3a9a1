import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { Author } from '../../../core/access/author.js';
import type { Caller } from '../../../core/access/caller.js';
import { scopeKeyOf, toScope } from '../../../core/access/scope.js';
import { Database } from '../../../platform/database/database.js';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { isUuid } from '../../../platform/database/stored-text.js';
import {
  InvalidProviderKeyError,
  InvalidRequestError,
  NotFoundError,
} from '../../../platform/errors/gateway-errors.js';
import { CredentialDirectory } from '../../../core/credentials/credential-directory.service.js';
import { CredentialCipher } from '../../../core/credentials/credential-cipher.service.js';
import { CredentialUseLog } from '../../../core/credentials/credential-use.log.js';
import { CredentialRepository } from '../../../core/credentials/credential.repository.js';
import type { ProviderCredentialEntity } from '../../../core/credentials/provider-credential.entity.js';
import { ByokUpstreams } from '../../../core/credentials/byok-upstreams.service.js';
import type {
  AccountProviderDto,
  CreatedProviderCredentialDto,
  DeletedProviderCredentialDto,
  ProviderCredentialDto,
  CreateProviderCredentialDto,
  TestProviderCredentialDto,
  UpdateProviderCredentialDto,
} from './provider-credentials.dto.js';
import { checkAccount, type AccountCheck } from '../../../core/credentials/account-check.js';
import {
  toAccountCheck,
  toKeyCheck,
  type AccountCheckDto,
} from '../../../core/credentials/account-check.dto.js';
import type { AccountRules, ByokAccountForm } from '../../../vendors/vendor.js';

const MAX_CREDENTIALS_PER_TENANT = 50;

/** A tenant's own accounts with providers. A change holds at once here, elsewhere within a second. */
@Injectable()
export class ProviderCredentialsService {
  constructor(
    private readonly credentials: CredentialRepository,
    private readonly directory: CredentialDirectory,
    private readonly upstreams: ByokUpstreams,
    private readonly cipher: CredentialCipher,
    private readonly uses: CredentialUseLog,
    private readonly database: Database,
    @Inject(APP_CONFIG) private readonly config: AppConfig,
  ) {}

  async list({ tenantId }: Caller): Promise<ProviderCredentialDto[]> {
    await this.uses.write();
    return (await this.credentials.list(tenantId)).map(toDto);
  }

  /** The providers that an account may be with, and what each asks of it. */
  offers(): AccountProviderDto[] {
    const offers = [...this.upstreams.providersOnOffer().values()];
    return offers
      .map(({ provider, form }) => ({
        provider: provider.id,
        name: provider.name,
        key_description: form.keyDescription,
        settings: Object.entries(form.settings).map(([name, { isRequired, description }]) => ({
          name,
          is_required: isRequired,
          description,
        })),
      }))
      .sort((one, other) => one.name.localeCompare(other.name));
  }

  /**
   * Tries the key by a free call, unless that is not wanted, and stores it where the vendor does not refuse it.
   *
   * @throws InvalidRequestError naming the field at fault, such as `settings.region`
   * @throws InvalidProviderKeyError when the vendor refuses the key
   */
  async create(
    caller: Caller,
    author: Author,
    body: CreateProviderCredentialDto,
  ): Promise<CreatedProviderCredentialDto> {
    const { tenantId, keyType } = caller;
    const { offer, read, settings } = this.readAccount(body);
    let check: AccountCheck | undefined;
    if (body.check ?? this.config.checksKeys) {
      const upstream = this.upstreams.forCheck(body.provider, { key: read.key, settings });
      check = await checkAccount(upstream, { name: offer.provider.name, hasKey: true });
      if (check.outcome === 'refused') throw new InvalidProviderKeyError(check.message);
    }
    const id = randomUUID();
    const values = {
      ...{ id, tenantId, madeBy: keyType, scopeKeyId: scopeKeyOf(caller) },
      provider: body.provider,
      name: body.name ?? null,
      sealedKey: this.cipher.encrypt(read.key, id),
      keyPreview: read.preview,
      settings,
      baseUrl: this.upstreams.addressOf(body.provider),
      allowSharedFallback: body.allow_shared_fallback ?? false,
      weight: body.weight ?? null,
      requestsPerMinute: body.requests_per_minute ?? null,
      tokensPerMinute: body.tokens_per_minute ?? null,
    };
    const limit = MAX_CREDENTIALS_PER_TENANT;
    const made = await this.database.transaction((transaction) =>
      this.credentials.insert(transaction, author, values, limit),
    );
    this.directory.forget(tenantId);
    return { ...toDto(made), check: check ? toKeyCheck(check) : null };
  }

  /** Tries an account by a real call, before it is stored. */
  async test(body: TestProviderCredentialDto): Promise<AccountCheckDto> {
    const { offer, read, settings } = this.readAccount(body);
    const { key } = read;
    const upstream = this.upstreams.forCheck(body.provider, { key, settings });
    return toAccountCheck(
      await checkAccount(upstream, { name: offer.provider.name, hasKey: true }),
    );
  }

  /** The same of one that is stored. @throws NotFoundError for what is not the tenant's */
  async testStored({ tenantId }: Caller, id: string): Promise<AccountCheckDto> {
    const access = isUuid(id) ? await this.upstreams.find(tenantId, id) : undefined;
    if (!access) throw new NotFoundError('id', 'There is no provider credential with this id.');
    const { provider } = this.upstreams.providersOnOffer().get(access.credential.provider)!;
    const { name } = provider;
    return toAccountCheck(await checkAccount(this.upstreams.use(access), { name, hasKey: true }));
  }

  /**
   * Changes how requests are spread among the accounts with its provider.
   *
   * @throws NotFoundError for what is not the tenant's
   */
  async update(
    caller: Caller,
    author: Author,
    id: string,
    {
      weight,
      requests_per_minute: requests,
      tokens_per_minute: tokens,
    }: UpdateProviderCredentialDto,
  ): Promise<ProviderCredentialDto> {
    const { tenantId } = caller;
    await this.credentials.findChangeable(caller, id);
    const values = { weight, requestsPerMinute: requests, tokensPerMinute: tokens };
    const changed = await this.database.transaction(async (transaction) => {
      const before = await this.credentials.lock(transaction, tenantId, id);
      return this.credentials.update(transaction, author, before, values);
    });
    this.directory.forget(tenantId);
    return toDto(changed);
  }

  /** @throws NotFoundError for what is not the tenant's */
  async delete(caller: Caller, author: Author, id: string): Promise<DeletedProviderCredentialDto> {
    const row = await this.credentials.findChangeable(caller, id);
    await this.database.transaction((transaction) =>
      this.credentials.remove(transaction, author, row),
    );
    this.directory.forget(caller.tenantId);
    this.upstreams.drop(id);
    return { id, deleted: true };
  }

  /** @throws InvalidRequestError naming the field at fault, such as `settings.region` */
  private readAccount(body: TestProviderCredentialDto) {
    const offers = this.upstreams.providersOnOffer();
    const offer = offers.get(body.provider);
    if (!offer) {
      throw new InvalidRequestError(
        'provider',
        `\`provider\` must be one of ${[...offers.keys()].join(', ')}.`,
      );
    }
    const read = offer.form.readKey(body.key);
    if ('fault' in read) throw new InvalidRequestError('key', `\`key\` ${read.fault}.`);
    const settings = readAccountSettings(offer.form, body.settings ?? {}, {
      allowPrivate: this.config.allowPrivateDestinations,
    });
    return { offer, read, settings };
  }
}

function toDto(record: ProviderCredentialEntity): ProviderCredentialDto {
  return {
    id: record.id,
    provider: record.provider,
    name: record.name,
    key_preview: record.keyPreview,
    settings: record.settings,
    allow_shared_fallback: record.allowSharedFallback,
    scope: toScope(record.scopeKeyId),
    weight: record.weight,
    requests_per_minute: record.requestsPerMinute,
    tokens_per_minute: record.tokensPerMinute,
    created_at: record.createdAt.toISOString(),
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
  };
}

/**
 * The settings of an account, as its provider needs them. A null counts as left out.
 *
 * @throws InvalidRequestError naming the field at fault, such as `settings.region`
 */
function readAccountSettings(
  { settings: fields }: ByokAccountForm,
  given: Readonly<Record<string, unknown>>,
  rules: AccountRules,
): Record<string, string> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) {
    const path = `settings.${unknown.slice(0, 100)}`;
    throw new InvalidRequestError(path, `\`${path}\` is no setting of this provider.`);
  }
  const settings: Record<string, string> = {};
  for (const [name, field] of Object.entries(fields)) {
    const path = `settings.${name}`;
    const value = given[name] ?? undefined;
    if (value === undefined) {
      if (!field.isRequired) continue;
      throw new InvalidRequestError(path, `\`${path}\` is required. ${field.description}`);
    }
    if (typeof value !== 'string') {
      throw new InvalidRequestError(path, `\`${path}\` must be a string.`);
    }
    const fault = field.faultOf(value, rules);
    if (fault !== undefined) throw new InvalidRequestError(path, `\`${path}\` ${fault}.`);
    settings[name] = value;
  }
  return settings;
}
