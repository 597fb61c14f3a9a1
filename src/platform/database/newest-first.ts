import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/**
 * Sorts by creation time and id, newest first.
 *
 * @param after the creation time and id of the last row of the page before
 */
export function newestFirst<Row extends ObjectLiteral>(
  query: SelectQueryBuilder<Row>,
  limit: number,
  after?: readonly (string | number | Date)[],
): SelectQueryBuilder<Row> {
  const { alias } = query;
  const [time, id] = after ?? [];
  if (after) {
    const behind = `(${alias}.createdAt, ${alias}.id) < (:time::timestamptz, :id)`;
    query.andWhere(behind, { time, id });
  }
  return query.orderBy({ [`${alias}.createdAt`]: 'DESC', [`${alias}.id`]: 'DESC' }).limit(limit);
}
