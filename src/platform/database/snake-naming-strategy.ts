import { DefaultNamingStrategy } from 'typeorm';
import { snakeCase } from 'typeorm/util/StringUtils.js';

/** Maps the property `tenantId` to the column `tenant_id`. */
export class SnakeNamingStrategy extends DefaultNamingStrategy {
  override columnName(property: string, name: string | undefined, prefixes: string[]): string {
    return snakeCase([...prefixes, name ?? property].join('_'));
  }
}
