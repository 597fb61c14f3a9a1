import type { KeyboardEvent, ReactNode } from 'react';

export interface Column<Row> {
  /** Unique within the table. */
  header: string;
  cell: (row: Row) => ReactNode;
  align?: 'end';
  /** Hidden on narrow screens. */
  wide?: boolean;
}

export interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  onOpen?: (row: Row) => void;
  empty?: ReactNode;
}

/**
 * A table whose first column is the row header. With `onOpen`, rows open on click and `j`, `k` and the arrow
 * keys move between them.
 *
 * @param caption table name for screen readers
 */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  rowKey,
  onOpen,
  empty,
}: TableProps<Row> & { rows: readonly Row[] }): ReactNode {
  if (rows.length === 0 && empty !== undefined) return empty;
  return (
    <div
      className="table-frame"
      tabIndex={0}
      role="region"
      aria-label={caption}
      onKeyDown={onOpen && moveBetweenRows}
    >
      <table className="table">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.header} scope="col" className={classOf(column)}>
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              data-opens={onOpen && ''}
              onClick={onOpen && ((event) => isPlainClick(event.target) && onOpen(row))}
            >
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.header} scope="row" className={classOf(column)}>
                    {onOpen ? (
                      <button type="button" className="row-button" onClick={() => onOpen(row)}>
                        {column.cell(row)}
                      </button>
                    ) : (
                      column.cell(row)
                    )}
                  </th>
                ) : (
                  <td key={column.header} className={classOf(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function classOf({ align, wide }: Pick<Column<unknown>, 'align' | 'wide'>): string | undefined {
  return [align === 'end' ? 'align-end' : '', wide ? 'wide' : ''].join(' ').trim() || undefined;
}

const STEP_OF: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** Moves the focus between rows; Enter opens the focused one. */
function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const step = STEP_OF[event.key];
  const { currentTarget: frame, target } = event;
  const isOfRow = target === frame || (target instanceof Element && target.matches('.row-button'));
  if (step === undefined || !isOfRow || event.ctrlKey || event.metaKey || event.altKey) return;
  const buttons = [...frame.querySelectorAll<HTMLElement>('.row-button')];
  const at = buttons.findIndex((button) => button === target);
  const next = buttons[at === -1 ? 0 : at + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** Ignores clicks on controls within the row, and text selections. */
function isPlainClick(target: EventTarget): boolean {
  const isControl = target instanceof Element && target.closest('a, button, input, select, label');
  return !isControl && (window.getSelection()?.isCollapsed ?? true);
}
