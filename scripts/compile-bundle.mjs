/**
 * A step of the build in a separate process: prints the bundle's API description and caches the code
 * that V8 compiled for it, which is most of the code needed at startup.
 *   node scripts/compile-bundle.mjs FOLDER   FOLDER contains the bundle
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const loader = pathToFileURL(join(process.argv[2], 'load.mjs')).href;
const { COMPILED, loadBundle } = await import(loader);
const { programs, script } = loadBundle();
const { describeWithoutService } = await programs.openapi();
process.stdout.write(JSON.stringify(await describeWithoutService()));
writeFileSync(COMPILED, script.createCachedData());
