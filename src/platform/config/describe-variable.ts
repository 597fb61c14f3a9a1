import { getMetadataStorage } from 'class-validator';
import { findViolations } from './find-violations.js';

/** What a variable's description has beside its meaning. */
export interface VariableNotes {
  /** A value that it may have. */
  readonly example: string;
  /** The value that holds without it. */
  readonly default?: string;
  /** In words, what holds without it where that is no value. */
  readonly without?: string;
}

/** One variable, as the page of the settings shows it. */
export interface DescribedVariable extends VariableNotes {
  readonly name: string;
  /** In Markdown, without a full stop at its end. */
  readonly meaning: string;
  /** What it must, as its validation says it, e.g. `be true or false`; undefined: any text. */
  readonly rule: string | undefined;
}

type Description = Pick<DescribedVariable, 'meaning'> & VariableNotes;

const descriptions = new WeakMap<object, Map<string, Description>>();

/** Says what a variable means, in Markdown; `docs/settings.md` is made of this. */
export function Describe(meaning: string, notes: VariableNotes): PropertyDecorator {
  return (target, property) => {
    const known = descriptions.get(target) ?? new Map<string, Description>();
    descriptions.set(target, known.set(String(property), { meaning, ...notes }));
  };
}

/**
 * The variables of a class such as `EnvDto`, in their order there.
 *
 * @throws Error when one has a validation and no description
 */
export function describeVariables(Variables: new () => object): DescribedVariable[] {
  const validations = getMetadataStorage().getTargetValidationMetadatas(
    Variables,
    '',
    false,
    false,
  );
  const names = [...new Set(validations.map(({ propertyName }) => propertyName))];
  return names.map((name) => {
    const description = descriptions.get(Variables.prototype as object)?.get(name);
    if (!description) throw new Error(`${name} has no @Describe`);
    return { name, ...description, rule: ruleOf(Variables, name) };
  });
}

/** What the validation says of a value that no variable can have. */
function ruleOf(Variables: new () => object, name: string): string | undefined {
  const broken = Object.assign(new Variables(), { [name]: {} });
  const [violation] = findViolations(broken, { refuseUnknown: false });
  return violation?.message.replace(/^must /, '');
}
