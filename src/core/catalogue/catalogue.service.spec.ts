import { describe, expect, it } from '@jest/globals';
import type { AppConfig } from '../../platform/config/app-config.js';
import { CatalogueService } from './catalogue.service.js';

const catalogue = new CatalogueService({ catalogueFile: undefined } as AppConfig);

describe(CatalogueService.name, () => {
  it('finds a model by its exact id', () => {
    expect(catalogue.find('openai/gpt-4o-mini')).toMatchObject({
      id: 'openai/gpt-4o-mini',
      catalogueId: 'openai/gpt-4o-mini',
    });
  });

  it.each([
    'openai/gpt-4o-mini ',
    'OPENAI/gpt-4o-mini',
    'gpt-4o-mini',
    'openai/',
    '',
    '*',
    'openai/f',
  ])('does not find %j', (alias) => {
    expect(catalogue.find(alias)).toBeUndefined();
  });

  it('finds members of a family, the longest family first', () => {
    const member = catalogue.find('openai/ft:gpt-4o-mini-2024-07-18:org::abc');
    expect(member).toMatchObject({
      id: 'openai/ft:gpt-4o-mini-2024-07-18:org::abc',
      name: 'ft:gpt-4o-mini-2024-07-18:org::abc',
      catalogueId: 'openai/ft:gpt-4o-mini*',
    });
    expect(member?.routes[0]).toMatchObject({
      provider: 'openai',
      upstreamModel: 'ft:gpt-4o-mini-2024-07-18:org::abc',
    });
    expect(catalogue.find('openai/ft:gpt-4o-2024-08-06:org::abc')?.catalogueId).toBe(
      'openai/ft:gpt-4o*',
    );
    expect(catalogue.find('openai/ft:gpt-4.1-mini-2025-04-14:org')?.catalogueId).toBe(
      'openai/ft:gpt-4.1-mini*',
    );
  });

  it('does not change a family by looking a member up', () => {
    catalogue.find('openai/ft:gpt-4o:one');
    expect(catalogue.find('openai/ft:gpt-4o:two')?.routes[0]?.upstreamModel).toBe('ft:gpt-4o:two');
  });

  it('lists no families', () => {
    expect(catalogue.models.length).toBeGreaterThan(100);
    expect(catalogue.models.filter(({ id }) => id.includes('*'))).toEqual([]);
  });
});
