import { readdirSync } from 'node:fs';

/** Every entity of the service. */
export const ENTITIES = (
  await Promise.all(
    readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.entity.ts'))
      .map((path) => import(`../../src/${path.replace(/ts$/, 'js')}`)),
  )
)
  .flatMap((module: object) => Object.entries(module))
  .flatMap(([name, exported]) => (name.endsWith('Entity') ? [exported as new () => object] : []));
