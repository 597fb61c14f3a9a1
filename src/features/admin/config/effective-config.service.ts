import { Injectable } from '@nestjs/common';
import { CatalogueService } from '../../../core/catalogue/catalogue.service.js';
import { mergeRow } from '../../../core/catalogue/load-catalogue.js';
import type { ConfigDocument } from '../../../core/configuration/config-document.js';
import { ConfigurationService } from '../../../core/configuration/configuration.service.js';
import {
  CHANGEABLE_SETTINGS,
  describeSetting,
  LiveSettings,
} from '../../../platform/config/live-settings.js';
import { readCursor, toCursorPage } from '../../../platform/http/cursor-page.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { UpstreamRegistry } from '../../../vendors/upstream.registry.js';
import type {
  EffectiveConfigDto,
  EffectiveModelDto,
  EffectiveProviderDto,
  EffectiveSettingDto,
  PricedModelListDto,
  PricedModelQueryDto,
} from './effective-config.dto.js';

/** Returns the effective configuration of this instance with the source of each value. */
@Injectable()
export class EffectiveConfigService {
  constructor(
    private readonly configuration: ConfigurationService,
    private readonly catalogue: CatalogueService,
    private readonly settings: LiveSettings,
    private readonly upstreams: UpstreamRegistry,
  ) {}

  effective(): EffectiveConfigDto {
    const { current, fingerprint, faults, adoptionFault } = this.configuration;
    return {
      object: 'config',
      version: current?.number ?? null,
      fingerprint,
      catalogue_fingerprint: this.catalogue.fingerprint,
      models_count: this.catalogue.rows.length,
      models: this.models(current?.document),
      providers: this.providers(current?.document),
      settings: this.settingValues(current?.document),
      faults: [...(adoptionFault === undefined ? [] : [adoptionFault]), ...faults],
    };
  }

  /** Returns every row used for billing on this instance, including built-in ones. */
  pricedModels({ limit, cursor, search = '' }: PricedModelQueryDto): PricedModelListDto {
    const [behind = ''] = readCursor(cursor, ['text']) ?? [];
    const changed = new Map(
      this.models(this.configuration.current?.document).map((model) => [model.id, model]),
    );
    const part = search.toLowerCase();
    const rows = this.catalogue.rows
      .filter(({ catalogueId: id }) => id > behind && id.toLowerCase().includes(part))
      .sort((one, other) => (one.catalogueId < other.catalogueId ? -1 : 1));
    return toCursorPage(
      rows.slice(0, limit + 1),
      limit,
      ({ catalogueId }) => [catalogueId],
      ({ catalogueId: id, kind, pricing }) => ({
        id,
        kind,
        source: changed.get(id)?.source ?? ('default' as const),
        is_overridden: this.catalogue.overridden.has(id),
        pricing: { ...pricing },
      }),
    );
  }

  private models(document: ConfigDocument | undefined): EffectiveModelDto[] {
    const rows = new Map<string, EffectiveModelDto>();
    const add = (source: 'version' | 'file') => (row: JsonObject) => {
      const id = String(row.id);
      const is_overridden = this.catalogue.overridden.has(id);
      rows.set(id, { id, source, is_overridden, row: mergeRow(rows.get(id)?.row, row) });
    };
    document?.models.forEach(add('version'));
    const known = new Set(rows.keys());
    for (const row of this.catalogue.declaredRows) {
      // A file row equal to the version's belongs to the version.
      const id = String(row.id);
      if (!known.has(id) || this.catalogue.overridden.has(id)) add('file')(row);
    }
    return [...rows.values()];
  }

  private providers(document: ConfigDocument | undefined): EffectiveProviderDto[] {
    const declared = new Set(this.settings.config.declared.providers.map(({ id }) => id));
    const stored = new Map(document?.providers.map((provider) => [provider.id, provider]));
    const callable = this.upstreams.providers.map((provider) => {
      const own = declared.has(provider.id) ? undefined : stored.get(provider.id);
      return {
        id: provider.id,
        name: provider.name,
        base_url: provider.baseUrl,
        source: own
          ? ('version' as const)
          : declared.has(provider.id)
            ? ('file' as const)
            : ('variable' as const),
        api_key_preview: own?.api_key?.preview ?? null,
        is_callable: true,
      };
    });
    const shown = new Set(callable.map(({ id }) => id));
    const others = [...stored.values()].filter(({ id }) => !shown.has(id));
    return [
      ...callable,
      ...others.map(({ id, name, base_url, api_key: key }) => ({
        id,
        name,
        base_url: base_url ?? '',
        source: 'version' as const,
        api_key_preview: key?.preview ?? null,
        is_callable: false,
      })),
    ];
  }

  private settingValues(document: ConfigDocument | undefined): EffectiveSettingDto[] {
    const declared = this.configuration.declared.settings;
    return CHANGEABLE_SETTINGS.map((name) => {
      const known = describeSetting(name);
      const setting = {
        name,
        meaning: known?.meaning ?? '',
        default: known?.default ?? known?.without ?? null,
      };
      const own = declared[name];
      if (own !== undefined) return { ...setting, value: own, source: 'variable' };
      const value = document?.settings[name];
      return value === undefined
        ? { ...setting, value: null, source: 'default' }
        : { ...setting, value, source: 'version' };
    });
  }
}
