import { Inject, Injectable, Logger } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import { asciiLowerCase } from '../../platform/text/ascii-lower-case.js';
import {
  builtInRows,
  catalogueFingerprint,
  mergeRows,
  readOperatorRows,
  toCatalogue,
  type CatalogueRows,
  type KnownModels,
} from './load-catalogue.js';
import { canonicalJson } from './canonical-json.js';
import type { Model } from './catalogue.types.js';
import { nearestIds } from './nearest-ids.js';

/** As ids of rows. */
const MAX_ALIAS_LENGTH = 200;

/** What callers can name from one moment to the next; never changed, only replaced. */
interface Snapshot {
  readonly exact: ReadonlyMap<string, Model>;
  /** Ids that end in `*`, the longest first. */
  readonly families: readonly Model[];
  readonly fingerprint: string;
  /** Unix ms from which some prices are others; undefined: they stay. */
  readonly changesAt: number | undefined;
  readonly version: number | null;
  /** Ids of the models that a file of this instance makes other than the version has them. */
  readonly overridden: ReadonlySet<string>;
}

/**
 * Every model that callers can name: the built-in rows, or those of the version that is in force, with the
 * operator's file over them. Look-ups are synchronous; another version takes the place of the whole at once.
 */
@Injectable()
export class CatalogueService {
  private readonly logger = new Logger(CatalogueService.name);
  private readonly known: KnownModels = new Map();
  /** Of the operator's file, which is read once. */
  readonly declaredRows: readonly JsonObject[];
  private current: Snapshot;
  /** Of the version in force, or those that come with the program. */
  versionRows: CatalogueRows = builtInRows();
  /** Rows of models that servers have at the moment, by their provider. */
  private readonly served = new Map<string, readonly JsonObject[]>();

  /** Ids of rows that price what has none, by the provider of both. */
  private readonly pricedAs: ReadonlyMap<string, string>;

  constructor(
    @Inject(APP_CONFIG)
    {
      catalogueFile,
      unlistedModels = [],
    }: Pick<AppConfig, 'catalogueFile'> & Partial<Pick<AppConfig, 'unlistedModels'>>,
  ) {
    this.pricedAs = new Map(unlistedModels.map((id) => [providerOf(id), id]));
    this.declaredRows = catalogueFile === undefined ? [] : readOperatorRows(catalogueFile);
    this.current = this.take(builtInRows(), null);
  }

  /** As things are, the prices of a day that has begun meanwhile included. */
  private get snapshot(): Snapshot {
    const { changesAt, version } = this.current;
    if (changesAt !== undefined && Date.now() >= changesAt) {
      this.current = this.take(this.versionRows, version);
    }
    return this.current;
  }

  /** The same where the same rows are: 12 hexadecimal digits. */
  get fingerprint(): string {
    return this.snapshot.fingerprint;
  }

  /** All models but families, which stand for ids that nobody can list. */
  get models(): readonly Model[] {
    return [...this.snapshot.exact.values()];
  }

  /** The same with the families, each under its own id. */
  get rows(): readonly Model[] {
    return [...this.models, ...this.snapshot.families];
  }

  /** The number of the version in force; null before the first. */
  get version(): number | null {
    return this.snapshot.version;
  }

  /** Ids of rows that the operator's file makes other than the version has them. */
  get overridden(): ReadonlySet<string> {
    return this.snapshot.overridden;
  }

  /** The rows as they stand in the version and this instance's file, those of servers of one's own left out. */
  get rowsInForce(): CatalogueRows {
    return mergeRows(this.versionRows, this.declaredRows);
  }

  /** From now on these are the rows; requests that are planned go on with what they have. */
  use(rows: CatalogueRows, version: number | null): void {
    this.current = this.take(rows, version);
    this.versionRows = rows;
  }

  /** From now on a provider has these models as well; rows of the version or a file stand over them. */
  serve(provider: string, rows: readonly JsonObject[]): void {
    if (rows.length === 0) this.served.delete(provider);
    else this.served.set(provider, rows);
    this.current = this.take(this.versionRows, this.current.version);
  }

  /** Ids that are most like an alias that is none, of those that pass. */
  nearest(alias: string, passes: (model: Model) => boolean): string[] {
    return nearestIds(
      alias,
      this.models.filter(passes).map(({ id }) => id),
    );
  }

  /**
   * The model of an alias: the exact id, else the longest family it belongs to, else what the
   * operator prices models of its provider by that no row has.
   */
  find(alias: string): Model | undefined {
    const { exact: models, families } = this.snapshot;
    const exact = models.get(alias);
    if (exact) return exact;
    const family = families.find((model) => alias.startsWith(model.id.slice(0, -1)));
    if (!family) return this.unlisted(alias);
    const rest = alias.slice(family.id.length - 1);
    return rest === '' || isPlainName(rest) ? memberOf(family, alias) : undefined;
  }

  private unlisted(alias: string): Model | undefined {
    if (this.pricedAs.size === 0) return undefined;
    const provider = providerOf(alias);
    const upstreamModel = alias.slice(provider.length + 1);
    const row = this.snapshot.exact.get(this.pricedAs.get(provider) ?? '');
    if (row?.kind !== 'chat' || !isPlainName(upstreamModel) || alias.length > MAX_ALIAS_LENGTH)
      return undefined;
    if (this.isListed(alias)) return undefined;
    // Others that serve the row's model need not have this one.
    const routes = row.routes
      .filter((route) => route.provider === provider)
      .map((route) => ({ ...route, upstreamModel }));
    return { ...row, id: alias, name: upstreamModel, description: '', created: 0, routes };
  }

  /** Whether it is a row's id but for its spelling, which some vendors overlook: it has a price of its own. */
  private isListed(alias: string): boolean {
    const plain = asciiLowerCase(alias.trim());
    const { exact, families } = this.snapshot;
    const isFamily = families.some(({ id }) => plain.startsWith(asciiLowerCase(id.slice(0, -1))));
    return isFamily || [...exact.keys()].some((id) => asciiLowerCase(id) === plain);
  }

  private take(rows: CatalogueRows, version: number | null): Snapshot {
    const merged = mergeRows(rows, this.declaredRows);
    const served = [...this.served.values()].flat();
    // What servers have differs from one instance to the next; it is no part of the configuration.
    const all =
      served.length === 0 ? merged : mergeRows(mergeRows(new Map(), served), [...merged.values()]);
    const { models, problems, ...loaded } = toCatalogue(all, this.known);
    const fingerprint = all === merged ? loaded.fingerprint : catalogueFingerprint(merged);
    for (const problem of problems) this.logger.warn(`Catalogue row not loaded: ${problem}`);
    for (const id of this.known.keys()) if (!all.has(id)) this.known.delete(id);
    const declared = this.declaredRows.map(({ id }) => String(id));
    return {
      exact: new Map(
        models.filter(({ id }) => !id.endsWith('*')).map((model) => [model.id, model]),
      ),
      families: models
        .filter(({ id }) => id.endsWith('*'))
        .sort((one, other) => other.id.length - one.id.length),
      fingerprint,
      changesAt: loaded.changesAt,
      version,
      overridden: new Set(
        declared.filter((id) => canonicalJson(rows.get(id)) !== canonicalJson(merged.get(id))),
      ),
    };
  }
}

/**
 * Whether a caller may name a model so that no row names. Other characters have several spellings, which lists of denied models
 * would miss and a vendor might take for the same, and `..` leaves the path of the vendor's API.
 */
function isPlainName(name: string): boolean {
  return (
    /^[A-Za-z0-9._:@/+~=,()[\]-]+$/.test(name) &&
    !name.split('/').some((segment) => ['', '.', '..'].includes(segment))
  );
}

/** One member of a family: the caller's part takes the place of the `*` in each route. */
function memberOf(family: Model, alias: string): Model {
  const rest = alias.slice(family.id.length - 1);
  return {
    ...family,
    id: alias,
    name: alias.slice(alias.indexOf('/') + 1),
    routes: family.routes.map((route) => ({
      ...route,
      upstreamModel: route.upstreamModel.endsWith('*')
        ? route.upstreamModel.slice(0, -1) + rest
        : route.upstreamModel,
    })),
  };
}

/** The first part of an id or an alias; all of one without any slash. */
function providerOf(id: string): string {
  return id.split('/', 1)[0]!;
}
