import { Inject, Injectable, Logger } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../platform/config/app-config.js';
import { loadCatalogue } from './load-catalogue.js';
import type { Model } from './catalogue.types.js';

/** Every model that callers can name, from the built-in data and the operator's file. */
@Injectable()
export class CatalogueService {
  private readonly exact = new Map<string, Model>();
  /** Ids that end in `*`, the longest first. */
  private readonly families: Model[] = [];
  /** The same where the same rows are: 12 hexadecimal digits. */
  readonly fingerprint: string;

  constructor(@Inject(APP_CONFIG) config: AppConfig) {
    const { models, problems, fingerprint } = loadCatalogue(config.catalogueFile);
    this.fingerprint = fingerprint;
    const logger = new Logger(CatalogueService.name);
    for (const problem of problems) logger.warn(`Catalogue row not loaded: ${problem}`);
    for (const model of models) {
      if (model.id.endsWith('*')) this.families.push(model);
      else this.exact.set(model.id, model);
    }
    this.families.sort((one, other) => other.id.length - one.id.length);
  }

  /** All models but families, which stand for ids that nobody can list. */
  get models(): readonly Model[] {
    return [...this.exact.values()];
  }

  /** The same with the families, each under its own id. */
  get rows(): readonly Model[] {
    return [...this.models, ...this.families];
  }

  /** The model of an alias: the exact id, else the longest family it belongs to. */
  find(alias: string): Model | undefined {
    const exact = this.exact.get(alias);
    if (exact) return exact;
    const family = this.families.find((model) => alias.startsWith(model.id.slice(0, -1)));
    return family && memberOf(family, alias);
  }
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
