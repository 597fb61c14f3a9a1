import { formatTable } from '../../src/operator/format-table.js';

type Kind = 'whole' | 'streamed';
type Verdict = 'ok' | 'FAILED' | '-';

/** What every adapter made of every case: one row for each, printed at the end. */
export class ContractReport {
  private readonly rows = new Map<string, { cells: [string, string] } & Record<Kind, Verdict>>();

  /** Runs a case and notes how it ended. @throws what it throws */
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
    // Not by way of the console, which the test runner decorates line by line.
    process.stdout.write(`\n${formatTable([head, ...rows]).join('\n')}\n\n`);
  }
}
