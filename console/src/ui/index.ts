/** The component library. Knows nothing about the API. */
export { Button, ButtonLink } from './button';
export { Chart, ChartCard, preloadChart } from './chart';
export { Code, CopyButton } from './code';
export { ConfirmDialog, Dialog, Drawer, useRestoreFocus } from './dialog';
export { DataTable, type Column } from './data-table';
export { MoreButton, PagedTable, SteppedTable } from './long-tables';
export { SearchField } from './search-field';
export {
  Checkbox,
  Field,
  NumberField,
  Select,
  SelectField,
  TextArea,
  TextField,
  TextInput,
  type Option,
} from './field';
export { Bar, Card, EmptyState, Notice, Page, Stat, Stats } from './layout';
export { Badge, Credits, Duration, Spread, Time, type Tone } from './values';
export { QueryState, Skeleton } from './query-state';
export { Tabs, type Tab } from './tabs';
export { toast, Toasts } from './toast';
export { ActionButton } from './action';
export { Facts } from './facts';
export { FormDialog } from './form-dialog';
export { SecretDialog } from './secret-dialog';
export { FilterSelect, FilterInput } from './filter-controls';
