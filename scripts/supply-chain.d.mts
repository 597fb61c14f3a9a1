export interface ShippedPackage {
  name: string;
  version: string;
  licence: string | undefined;
  integrity?: string | undefined;
  optional?: boolean;
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
export function cycloneDx(packages: readonly ShippedPackage[]): {
  bomFormat: string;
  components: { name: string; version: string; purl: string; scope: string }[];
};
