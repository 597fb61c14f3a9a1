import { describe, expect, it } from '@jest/globals';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { telemetryProvider } from '../../vendors/vendors.js';
import { ERROR_TYPE, GEN_AI, HTTP_STATUS } from './span-draft.js';

describe('attribute names', () => {
  const known = new Set<unknown>(Object.values(conventions));

  it.each([...Object.values(GEN_AI), ERROR_TYPE, HTTP_STATUS, 'session.id', 'user.id'])(
    'include %s from the semantic conventions',
    (name) => {
      expect(known).toContain(name);
    },
  );

  it.each(['azure', 'bedrock', 'vertex'])('name %s as the conventions do', (provider) => {
    expect(telemetryProvider(provider)).not.toBe(provider);
    expect(known).toContain(telemetryProvider(provider));
  });
});
