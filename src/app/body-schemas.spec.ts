import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { compileSchemas, schemaChecks } from '../platform/http/validate-body.js';
// Loads all features, which register their schemas.
import './app.module.js';

describe('request body schemas', () => {
  const ajv = new Ajv({ strict: false });

  it('are valid JSON Schemas, which compilation does not check', () => {
    expect(schemaChecks.length).toBeGreaterThan(30);
    for (const { schema } of schemaChecks) {
      void ajv.validateSchema(schema);
      expect({ schema, errors: ajv.errors ?? [] }).toEqual({ schema, errors: [] });
    }
  });

  it('can all be compiled in advance', async () => {
    await compileSchemas();
    for (const check of schemaChecks) expect(() => check(null)).not.toThrow();
  });
});
