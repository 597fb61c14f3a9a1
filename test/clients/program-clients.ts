import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun, runReporting, type Client } from './run-client.js';

const PROGRAMS = fileURLToPath(new URL('.', import.meta.url));

/** Creates a Python virtual environment below the folder with these packages. @returns its programs' folder */
export async function installPython(folder: string, packages: readonly string[]): Promise<string> {
  const programs = join(folder, 'bin');
  const stamp = join(folder, 'installed');
  const wanted = packages.join(' ');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return programs;
  await mustRun('python3', ['-m', 'venv', folder]);
  const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages];
  await mustRun(join(programs, 'python'), install, { limitMs: 600_000 });
  await writeFile(stamp, wanted);
  return programs;
}

/** @param packages each client has its own environment, since their requirements conflict */
const python = (name: string, ...packages: string[]): Client => ({
  name: `Python: ${name}`,
  needs: ['python3'],
  async install(folder) {
    await installPython(join(folder, name), packages);
  },
  run: (folder, target) =>
    runReporting(
      join(folder, name, 'bin/python'),
      [join(PROGRAMS, 'python', `${name.replaceAll('-', '_')}_client.py`)],
      target,
      // Prices are part of the package; downloading them would only take time.
      { env: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', PYTHONDONTWRITEBYTECODE: '1' } },
    ),
});

async function copyPrograms(folder: string, files: readonly string[]): Promise<string> {
  for (const file of files) {
    await mkdir(join(folder, file, '..'), { recursive: true });
    await copyFile(join(PROGRAMS, file), join(folder, file));
  }
  return folder;
}

const GO_PACKAGES = ['github.com/openai/openai-go/v3', 'github.com/anthropics/anthropic-sdk-go'];

const go: Client = {
  name: 'Go: openai-go, anthropic-sdk-go',
  needs: ['go'],
  async install(folder) {
    const cwd = join(await copyPrograms(folder, ['go/main.go']), 'go');
    if (!existsSync(join(cwd, 'go.mod'))) {
      await mustRun('go', ['mod', 'init', 'example.com/clients'], { cwd });
      await mustRun('go', ['get', ...GO_PACKAGES.map((name) => `${name}@latest`)], { cwd });
      await mustRun('go', ['mod', 'tidy'], { cwd });
    }
    await mustRun('go', ['build', '-o', 'clients', '.'], { cwd });
  },
  run: (folder, target) => runReporting(join(folder, 'go/clients'), [], target),
};

const rust: Client = {
  name: 'Rust: async-openai',
  needs: ['cargo'],
  async install(folder) {
    const cwd = join(await copyPrograms(folder, ['rust/Cargo.toml', 'rust/src/main.rs']), 'rust');
    await mustRun('cargo', ['build', '--quiet'], { cwd });
  },
  run: (folder, target) => runReporting(join(folder, 'rust/target/debug/clients'), [], target),
};

const java: Client = {
  name: 'Java: openai-java, anthropic-java',
  needs: ['java', 'mvn'],
  async install(folder) {
    const cwd = join(await copyPrograms(folder, ['java/pom.xml', 'java/Main.java']), 'java');
    await mustRun('mvn', ['--quiet', '--batch-mode', 'compile'], { cwd });
  },
  run: (folder, target) =>
    runReporting('mvn', ['--quiet', '--batch-mode', 'exec:java'], target, {
      cwd: join(folder, 'java'),
    }),
};

/** Libraries, each with a small program that calls its API. */
export const PROGRAM_CLIENTS: readonly Client[] = [
  python('openai', 'openai'),
  python('anthropic', 'anthropic'),
  // It needs `mcp` for tools without declaring it.
  python('litellm', 'litellm', 'mcp'),
  python('langchain', 'langchain-openai', 'langchain-anthropic'),
  python('pydantic-ai', 'pydantic-ai-slim[openai,anthropic]'),
  python('instructor', 'instructor', 'anthropic'),
  python('openai-agents', 'openai-agents'),
  go,
  rust,
  java,
];
