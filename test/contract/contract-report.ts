import { formatTable } from '../../src/operator/format-table.js';

type Kind = 'whole' | 'streamed';
type Verdict = 'ok' | 'FAILED' | '-';

/** Every adapter's result for every case, printed as a table at the end. */
export class ContractReport {
  private readonly rows = new Map<string, { cells: [string, string] } & Record<Kind, Verdict>>();

  /** Runs a case and records its result. @throws what the case throws */
  async note(adapter: string, name: string, kind: Kind, run: () => Promise<void>): Promise<void> {
    const key = `${adapter}|${name}`;
    const row = this.rows.get(key) ?? { cells: [adapter, name], whole: '-', streamed: '-' };
    this.rows.set(key, row);
    row[kind] = 'FAILED';
    await run();
    row[kind] = 'ok';
  }

  print(): void {
    const head = ['adapter', 'case', 'whole', 'streamed'];
    const rows = [...this.rows.values()].map((row) => [...row.cells, row.whole, row.streamed]);
    // Bypasses the console, which Jest decorates line by line.
    process.stdout.write(`\n${formatTable([head, ...rows]).join('\n')}\n\n`);
  }
}
