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

/** Same as for row ids. */
const MAX_ALIAS_LENGTH = 200;

/** An immutable state of the catalogue. */
interface Snapshot {
  readonly exact: ReadonlyMap<string, Model>;
  /** Ids ending in `*`, longest first. */
  readonly families: readonly Model[];
  readonly fingerprint: string;
  /** Unix ms of the next price change; undefined without one. */
  readonly changesAt: number | undefined;
  readonly version: number | null;
  /** Ids of models that this instance's file changes. */
  readonly overridden: ReadonlySet<string>;
}

/**
 * Holds every model that callers can name: built-in rows or those of the active version, merged
 * with the operator's file. Lookups are synchronous; a new version replaces everything at once.
 */
@Injectable()
export class CatalogueService {
  private readonly logger = new Logger(CatalogueService.name);
  private readonly known: KnownModels = new Map();
  /** From the operator's file, read once. */
  readonly declaredRows: readonly JsonObject[];
  private current: Snapshot;
  /** From the active version, or built in. */
  versionRows: CatalogueRows = builtInRows();
  /** Rows of models discovered on servers, by provider. */
  private readonly served = new Map<string, readonly JsonObject[]>();

  /** Ids of rows that price unlisted models, by provider. */
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

  /** The current state, including price changes that have taken effect. */
  private get snapshot(): Snapshot {
    const { changesAt, version } = this.current;
    if (changesAt !== undefined && Date.now() >= changesAt) {
      this.current = this.take(this.versionRows, version);
    }
    return this.current;
  }

  /** 12 hexadecimal digits that identify the rows. */
  get fingerprint(): string {
    return this.snapshot.fingerprint;
  }

  /** All models except families, whose members cannot be listed. */
  get models(): readonly Model[] {
    return [...this.snapshot.exact.values()];
  }

  /** All models and families. */
  get rows(): readonly Model[] {
    return [...this.models, ...this.snapshot.families];
  }

  /** Number of the active version; null before the first. */
  get version(): number | null {
    return this.snapshot.version;
  }

  /** Ids of rows that the operator's file changes. */
  get overridden(): ReadonlySet<string> {
    return this.snapshot.overridden;
  }

  /** Rows of the version and this instance's file, without discovered ones. */
  get rowsInForce(): CatalogueRows {
    return mergeRows(this.versionRows, this.declaredRows);
  }

  /** Replaces the rows; planned requests keep theirs. */
  use(rows: CatalogueRows, version: number | null): void {
    this.current = this.take(rows, version);
    this.versionRows = rows;
  }

  /** Sets a provider's discovered models; rows of the version or a file take precedence. */
  serve(provider: string, rows: readonly JsonObject[]): void {
    if (rows.length === 0) this.served.delete(provider);
    else this.served.set(provider, rows);
    this.current = this.take(this.versionRows, this.current.version);
  }

  /** Returns the ids most similar to an unknown alias, among models that pass. */
  nearest(alias: string, passes: (model: Model) => boolean): string[] {
    return nearestIds(
      alias,
      this.models.filter(passes).map(({ id }) => id),
    );
  }

  /**
   * Finds an alias: by exact id, else in the longest matching family, else as an unlisted model
   * that the operator has priced.
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
    // Fallback vendors of the row may not have this model.
    const routes = row.routes
      .filter((route) => route.provider === provider)
      .map((route) => ({ ...route, upstreamModel }));
    return { ...row, id: alias, name: upstreamModel, description: '', created: 0, routes };
  }

  /**
   * Returns whether a row's id differs only in spelling, which some vendors ignore: it has its own
   * price.
   */
  private isListed(alias: string): boolean {
    const plain = asciiLowerCase(alias.trim());
    const { exact, families } = this.snapshot;
    const isFamily = families.some(({ id }) => plain.startsWith(asciiLowerCase(id.slice(0, -1))));
    return isFamily || [...exact.keys()].some((id) => asciiLowerCase(id) === plain);
  }

  private take(rows: CatalogueRows, version: number | null): Snapshot {
    const merged = mergeRows(rows, this.declaredRows);
    const served = [...this.served.values()].flat();
    // Discovered models differ between instances, so they are not part of the configuration.
    const all =
      served.length === 0 ? merged : mergeRows(mergeRows(new Map(), served), [...merged.values()]);
    const { models, problems, ...loaded } = toCatalogue(all, this.known);
    const fingerprint = all === merged ? loaded.fingerprint : catalogueFingerprint(merged);
    for (const problem of problems) this.logger.warn(`catalogue row not loaded: ${problem}`);
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
 * True when a caller may use a model name that no row has. Other characters have several spellings, which lists of denied models
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

/** Returns the first part of an id or alias, or all of it without a slash. */
function providerOf(id: string): string {
  return id.split('/', 1)[0]!;
}
