import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import { compileSchemas, schemaChecks } from '../platform/http/validate-body.js';
// All features, whose schemas are known once they are loaded.
import './app.module.js';

describe('the schemas of all bodies', () => {
  const ajv = new Ajv({ strict: false });

  it('are JSON Schemas, which is not looked at when they are compiled', () => {
    expect(schemaChecks.length).toBeGreaterThan(30);
    for (const { schema } of schemaChecks) {
      void ajv.validateSchema(schema);
      expect({ schema, errors: ajv.errors ?? [] }).toEqual({ schema, errors: [] });
    }
  });

  it('can all be compiled before anybody needs them', async () => {
    await compileSchemas();
    for (const check of schemaChecks) expect(() => check(null)).not.toThrow();
  });
});
