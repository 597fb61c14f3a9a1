export interface ShippedPackage {
  name: string;
  version: string;
  licence: string | undefined;
}
export interface Advisory {
  id: string;
  name: string;
  range: string;
  severity: string;
  title: string;
  accepted?: string;
}
export function shippedPackages(root?: string): ShippedPackage[];
export function unknownLicences(packages: readonly ShippedPackage[]): ShippedPackage[];
export function knownAdvisories(
  packages: readonly ShippedPackage[],
  advisories?: readonly Advisory[],
): Advisory[];
