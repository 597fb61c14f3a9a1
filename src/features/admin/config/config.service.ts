import { Injectable } from '@nestjs/common';
import type { Author } from '../../../core/access/author.js';
import { mergeRow } from '../../../core/catalogue/load-catalogue.js';
import {
  readProviders,
  shownDocument,
  type ConfigDocument,
  type ConfigProblem,
} from '../../../core/configuration/config-document.js';
import {
  toAccountCheck,
  type AccountCheckDto,
} from '../../../core/credentials/account-check.dto.js';
import { checkAccount, isWell } from '../../../core/credentials/account-check.js';
import type { ProviderConfig } from '../../../platform/config/app-config.js';
import { toProvider } from '../../../platform/config/configured-providers.js';
import {
  ConfigConflictError,
  ConfigVersions,
  type ConfigVersion,
  type WantedDocument,
} from '../../../core/configuration/config-versions.js';
import { ConfigurationService } from '../../../core/configuration/configuration.service.js';
import {
  GatewayError,
  InvalidRequestError,
  NotFoundError,
} from '../../../platform/errors/gateway-errors.js';
import {
  readCursor,
  toCursorPage,
  type CursorPageQueryDto,
} from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { ambientFaultOf, faultOfProvider, VENDORS, withAccount } from '../../../vendors/vendors.js';
import { UpstreamRegistry } from '../../../vendors/upstream.registry.js';
import type { ConfigChangeOptionsDto } from './config-change.dto.js';
import type {
  ChangedConfigDto,
  ConfigVersionDto,
  ConfigVersionListDto,
  ConfigVersionSummaryDto,
} from './config.dto.js';

const MAX_NUMBER = 2 ** 31 - 1;

interface Options extends ConfigChangeOptionsDto {
  readonly ifMatch?: string | undefined;
}

/** Configuration versions for operators. */
@Injectable()
export class AdminConfigService {
  constructor(
    private readonly versions: ConfigVersions,
    private readonly configuration: ConfigurationService,
    private readonly upstreams: UpstreamRegistry,
  ) {}

  async list({ limit, cursor }: CursorPageQueryDto): Promise<ConfigVersionListDto> {
    const [before] = readCursor(cursor, ['integer']) ?? [];
    const number = before === undefined ? undefined : Math.min(Number(before), MAX_NUMBER);
    const rows = await this.versions.list(limit + 1, number);
    return toCursorPage(rows, limit, (version) => [version.number], toSummary);
  }

  /** @throws NotFoundError */
  async get(number: string): Promise<ConfigVersionDto> {
    const isNumber = /^\d{1,10}$/.test(number) && Number(number) <= MAX_NUMBER;
    return toVersionDto(await this.versions.find(isNumber ? Number(number) : 0));
  }

  apply(author: Author, document: JsonObject, options: Options): Promise<ChangedConfigDto> {
    return this.change(author, 'config.apply', () => ({ value: document }), options);
  }

  async rollBack(author: Author, number: number, options: Options): Promise<ChangedConfigDto> {
    const { document } = await this.versions.find(number);
    const wanted = { value: shownDocument(document), keysOf: document };
    const comment = options.comment ?? `Back to version ${number}`;
    return this.change(author, 'config.rollback', () => wanted, { ...options, comment });
  }

  putModel(
    author: Author,
    id: string,
    row: JsonObject,
    options: Options,
  ): Promise<ChangedConfigDto> {
    if (row.id !== undefined && row.id !== id) {
      throw new InvalidRequestError(
        'row.id',
        'row.id must equal the id in the path, or be omitted.',
      );
    }
    return this.change(
      author,
      'config.model',
      (document) => {
        const { models, ...others } = shownDocument(document);
        const known = models.find((one) => one.id === id);
        const isWhole = row.removed === true || known?.removed === true;
        const next = { ...(isWhole ? row : mergeRow(known, row)), id };
        const rest = models.filter((one) => one !== known);
        return { value: { ...others, models: [...rest, next] } };
      },
      options,
    );
  }

  putProvider(
    author: Author,
    id: string,
    provider: JsonObject,
    options: Options,
  ): Promise<ChangedConfigDto> {
    if (provider.id !== undefined && provider.id !== id) {
      throw new InvalidRequestError(
        'provider.id',
        'provider.id must equal the id in the path, or be omitted.',
      );
    }
    return this.change(
      author,
      'config.provider',
      (document) => {
        const { providers, ...others } = shownDocument(document);
        const rest = providers.filter((one) => one.id !== id);
        return { value: { ...others, providers: [...rest, { ...provider, id }] } };
      },
      options,
    );
  }

  /**
   * Tests a provider with a real call: the given entry or the current one.
   * @throws InvalidRequestError, NotFoundError
   */
  async testProvider(id: string, entry: JsonObject | undefined): Promise<AccountCheckDto> {
    const provider = entry
      ? this.providerOf({ ...entry, id })
      : this.upstreams.providers.find((one) => one.id === id);
    if (!provider) throw new NotFoundError('id', 'There is no provider with this id.');
    const { accounts, name } = provider;
    const tried = accounts
      ? accounts.map((account) => ({
          name: `${name} (account ${account.id})`,
          one: withAccount(provider, account),
        }))
      : [{ name, one: provider }];
    const checks = await Promise.all(
      tried.map(({ one, name }) =>
        checkAccount(this.upstreams.create(one), { name, hasKey: one.apiKey !== undefined }),
      ),
    );
    // Reports the first failing account.
    return toAccountCheck(checks.find((check) => !isWell(check)) ?? checks[0]!);
  }

  private providerOf(entry: JsonObject): ProviderConfig {
    const problems: ConfigProblem[] = [];
    const [given] = readProviders([entry], problems);
    const [problem] = problems;
    if (problem || !given) {
      const param = problem?.param ?? 'provider';
      throw new InvalidRequestError(param, `${problem?.message ?? 'provider is invalid'}.`);
    }
    const { api_key: key, accounts, ...rest } = given;
    const entries = accounts?.map(({ api_key: _, ...account }) => account);
    const provider = toProvider(
      { ...rest, ...(entries && { accounts: entries }) },
      key ?? undefined,
      VENDORS,
      accounts?.map(({ api_key: own }) => own ?? undefined),
    );
    const fault = faultOfProvider(provider) ?? ambientFaultOf(provider);
    if (fault === undefined) return provider;
    throw new InvalidRequestError('provider', `The provider cannot be called: ${fault}.`);
  }

  deleteProvider(author: Author, id: string, options: Options): Promise<ChangedConfigDto> {
    return this.change(
      author,
      'config.provider',
      (document) => {
        const { providers, ...others } = shownDocument(document);
        const rest = providers.filter((one) => one.id !== id);
        if (rest.length < providers.length) return { value: { ...others, providers: rest } };
        throw new NotFoundError('id', 'The provider is not in the configuration.');
      },
      options,
    );
  }

  private async change(
    author: Author,
    action: string,
    make: (latest: ConfigDocument) => WantedDocument,
    { comment, dry_run: dryRun, expected_version: expected, ifMatch }: Options,
  ): Promise<ChangedConfigDto> {
    const isDryRun = dryRun ?? false;
    const matched = readIfMatch(ifMatch);
    const expect = matched ?? expected;
    try {
      const { version, isNew } = await this.versions.change(
        author,
        (latest) => make(latest?.document ?? { models: [], providers: [], settings: {} }),
        { action, isDryRun, comment: comment ?? null, ...(expect !== undefined && { expect }) },
      );
      // Also for what the latest version says already, which this instance may not have adopted.
      if (!isDryRun) await this.adopt(version.number);
      return { ...toVersionDto(version), is_stored: isNew && !isDryRun };
    } catch (error) {
      if (matched === undefined || !(error instanceof ConfigConflictError)) throw error;
      const { message } = error;
      throw new GatewayError({ status: 412, type: 'conflict_error', param: 'if-match', message });
    }
  }

  /** @throws GatewayError 503 when the version is stored but this instance does not apply it yet */
  private async adopt(number: number): Promise<void> {
    await this.configuration.refresh();
    const { current, adoptionFault } = this.configuration;
    if (current && current.number >= number) return;
    throw new GatewayError({
      status: 503,
      type: 'provider_unavailable',
      param: 'version',
      message: `Version ${number} is stored, but not applied on this instance. ${adoptionFault ?? 'The database does not respond. The version is applied once it does.'}`,
    });
  }
}

/** Returns the version number of an ETag; undefined for `*`. @throws InvalidRequestError */
function readIfMatch(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const [, digits] = /^\s*"(\d{1,10})"\s*$/.exec(header) ?? [];
  if (digits !== undefined) return Number(digits);
  throw new InvalidRequestError(
    'if-match',
    'If-Match must be one ETag of GET /v1/admin/config, such as "6".',
  );
}

function toSummary(version: ConfigVersion): ConfigVersionSummaryDto {
  return {
    object: 'config_version',
    version: version.number,
    fingerprint: version.fingerprint,
    author: { ...version.actor },
    comment: version.comment,
    changes: version.diff.length,
    created_at: version.createdAt.toISOString(),
  };
}

function toVersionDto(version: ConfigVersion): ConfigVersionDto {
  return {
    ...toSummary(version),
    document: { ...shownDocument(version.document) },
    diff: [...version.diff],
  };
}
