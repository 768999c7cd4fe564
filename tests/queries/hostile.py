"""Queries of an attacker: files, network, settings, and bombs of time, memory and disk of every kind we know.

`{secret}` stands for a file whose content nothing may show, `{folder}` for one that nothing may write to.
"""

import itertools

_READERS = (
    *("read_csv", "read_csv_auto", "sniff_csv", "read_text", "read_blob", "read_json", "read_json_auto"),
    *("read_ndjson", "read_json_objects", "read_parquet", "parquet_scan", "parquet_metadata", "parquet_schema"),
    *("parquet_file_metadata", "parquet_kv_metadata", "glob", "read_xlsx", "sqlite_scan", "postgres_scan", "st_read"),
    *("iceberg_scan", "delta_scan", "read_duckdb", "read_avro"),
)
_PLACES = (
    *("{secret}", "file://{secret}", "https://127.0.0.1:9/a.csv", "s3://bucket/a.csv", "hf://datasets/a/b.csv"),
    *("/proc/self/environ", "/etc/passwd", "{folder}/*", "/dev/zero"),
)
OUTSIDE = (
    *(f"SELECT * FROM {reader}('{{secret}}')" for reader in _READERS),
    *(f"SELECT * FROM read_text('{place}')" for place in _PLACES[1:]),
    *(f"FROM '{place}'" for place in ("{secret}", "https://127.0.0.1:9/a.csv", "/proc/self/environ")),
    "SELECT (SELECT content FROM read_text('{secret}'))",
    "SELECT getenv('HOME')",
    "SELECT * FROM query('SELECT content FROM read_text(''{secret}'')')",
    "SELECT * FROM query_table('{secret}')",
    "WITH x AS MATERIALIZED (FROM read_blob('{secret}')) FROM x",
    "SELECT * FROM (SUMMARIZE FROM '{secret}')",
    "DESCRIBE FROM '{secret}'",
    "EXPLAIN ANALYZE FROM read_text('{secret}')",
    "SELECT * FROM pragma_user_agent('{secret}')",
    "SELECT * FROM frame",
    "SELECT * FROM asked",
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "COPY testset FROM '{secret}'",
    "EXPORT DATABASE '{folder}/out'",
    "IMPORT DATABASE '{folder}'",
    "ATTACH '{folder}/other.duckdb' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH other",
    "USE memory",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{secret}'",
    "FORCE INSTALL spatial FROM 'http://127.0.0.1:9'",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET memory_limit = '100GB'",
    "SET temp_directory = '{folder}'",
    "SET GLOBAL threads = 64",
    "RESET memory_limit",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "CREATE SECRET (TYPE s3)",
    "CREATE TEMP TABLE t AS SELECT 1",
    "CREATE TEMP MACRO avg(x) AS 1",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "DROP TABLE internal.score",
    "UPDATE internal.score SET value = 0",
    "DELETE FROM internal.score RETURNING *",
    "INSERT INTO internal.testset VALUES (99, 'x', 2000, 'x', false) RETURNING *",
    "MERGE INTO internal.testset USING (SELECT 1 AS i) ON false WHEN MATCHED THEN DELETE",
    "TRUNCATE internal.score",
    "VACUUM",
    "CHECKPOINT",
    "FORCE CHECKPOINT",
    "BEGIN; SELECT 1",
    "SELECT 1; DROP VIEW scores",
    "CREATE OR REPLACE VIEW scores AS SELECT 1",
    "ALTER TABLE internal.score ADD COLUMN x INTEGER",
    "EXPLAIN ANALYZE DELETE FROM internal.score",
    "EXPLAIN ANALYZE CREATE TABLE mine AS PIVOT evalsets ON year",
    "COPY (PIVOT evalsets ON year) TO '{folder}/years.csv'",
    "PIVOT evalsets ON year; PIVOT evalsets ON lp",
    "PIVOT evalsets ON year) ; CREATE TABLE mine AS (PIVOT evalsets ON lp",
)
"""What reaches for something outside or changes something."""

_LONG = 2_000_000_000
_TEXTS = "repeat('ab', 200000), repeat('ba', 200000)"
MEMORY = (
    f"SELECT range({_LONG})",
    f"SELECT list_sum(range({_LONG}))",
    f"SELECT len(generate_series(1, {_LONG}))",
    f"SELECT list_resize([1], {_LONG}, 7)",
    f"SELECT len(list_resize([1]::BIGINT[], {_LONG}))",
    f"SELECT repeat('x', {_LONG})",
    f"SELECT length(repeat('x', {2 * _LONG}))",
    f"SELECT length(lpad('x', {_LONG}, 'y'))",
    f"SELECT length(rpad('x', {_LONG}, 'y'))",
    f"SELECT bit_count(bitstring('1', {_LONG}))",
    "SELECT length(repeat(repeat(repeat('x', 10000), 10000), 100))",
    "SELECT length(string_agg(repeat('x', 1000000), '')) FROM range(5000)",
    "SELECT list(repeat('x', 1000) || i) FROM range(100000000) AS t(i)",
    "SELECT array_agg(i ORDER BY i DESC) FROM range(1000000000) AS t(i)",
    "SELECT histogram(i) FROM range(100000000) AS t(i)",
    "SELECT map_from_entries(list((i, i))) FROM range(100000000) AS t(i)",
    "SELECT string_split(repeat('a,', 500000000), ',')",
    "SELECT len(string_split(repeat('a,', 200000000), ','))",
    "SELECT len(regexp_extract_all(repeat('ab', 100000000), 'a'))",
    "SELECT length(regexp_replace(repeat('a', 100000000), 'a', repeat('b', 100), 'g'))",
    "SELECT length(replace(repeat('a', 100000000), 'a', repeat('b', 100)))",
    "SELECT damerau_levenshtein(repeat('ab', 50000), repeat('ba', 50000))",
    "SELECT len(list_transform(range(1000000000), lambda x: repeat('x', 100)))",
    "SELECT len(flatten(list_transform(range(100000), lambda x: range(100000))))",
    "SELECT len(list_concat(range(500000000), range(500000000)))",
    "SELECT len(list_sort(range(1000000000), 'DESC'))",
    "SELECT len(list_distinct(range(500000000)))",
    "SELECT length(to_json(range(500000000))::VARCHAR)",
    "SELECT length(json_array(range(300000000))::VARCHAR)",
    "SELECT length(printf('%2000000000d', 1))",
    "SELECT length(format('{{:>2000000000}}', 1))",
    "SELECT length(hex(repeat('x', 1500000000)))",
    "SELECT length(to_base64(repeat('x', 1500000000)::BLOB))",
    "SELECT length(md5(repeat('x', 2000000000)))",
    "SELECT count(DISTINCT i) FROM range(2000000000) AS t(i)",
    "SELECT * FROM range(2000000000) AS t(i)",
    "SELECT repeat('x', 1000) FROM range(100000000)",
    "SELECT i, repeat('x', 500) AS t FROM range(100000000) AS t(i) ORDER BY t, i DESC",
    "SELECT a.i, b.i, row_number() OVER (ORDER BY a.i * b.i) FROM range(50000) a(i), range(50000) b(i)",
    "SELECT i, list(j) OVER (ORDER BY i ROWS 100000 PRECEDING) FROM range(1000000) t(i), range(2) u(j)",
    "SELECT approx_quantile(i, range(1000000)::FLOAT[]) FROM range(1000) AS t(i)",
    "WITH RECURSIVE r AS (SELECT 'x' AS t UNION ALL SELECT t || t FROM r) SELECT length(t) FROM r",
    "WITH RECURSIVE r AS (SELECT [1] AS t UNION ALL SELECT t || t FROM r) SELECT len(t) FROM r",
    "SELECT " + ", ".join(f"repeat('{letter}', 100000000) AS {letter}" for letter in "abcdefghijklmnopqrstuvwxyz"),
    "WITH "
    + ", ".join(
        [
            "c0 AS MATERIALIZED (SELECT range(10000000) AS x)",
            *(f"c{i} AS MATERIALIZED (SELECT x || x AS x FROM c{i - 1})" for i in range(1, 12)),
        ]
    )
    + " SELECT len(x) FROM c11",
    "PIVOT (SELECT i, i AS j FROM range(100000) AS t(i)) ON j USING sum(i)",
    "SELECT * FROM (SELECT 1 AS x) " + " ".join(f"CROSS JOIN range(1000) AS t{i}" for i in range(6)),
)
"""What asks for more memory than it may take."""

TIME = (
    f"SELECT levenshtein({_TEXTS})",
    f"SELECT jaro_winkler_similarity({_TEXTS})",
    f"SELECT jaccard({_TEXTS}) FROM range(1000000)",
    "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE sin(a.range + b.range) > 2",
    "SELECT a.range FROM range(1000000000) a, range(1000000000) b WHERE sin(a.range + b.range) > 0.9999999",
    "SELECT sum(sin(i)) FROM range(1000000000000) AS t(i)",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r) SELECT count(*) FROM r",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION SELECT (x * 7) % 1000003 FROM r) SELECT count(*) FROM r, r s, r t",
    "WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x FROM r) SELECT * FROM r",
    "SELECT count(*) FROM scores a, scores b, scores c WHERE sin(a.value + b.value + c.value) > 2",
    "SELECT regexp_matches(repeat('a', 200000), '(a|a|a|a|a|a|a|a){{500}}b')",
    "SELECT repeat('a', 1000000) LIKE repeat('%a', 5000) || 'b'",
    "SELECT count(*) FROM range(100000000) AS t(i) WHERE repeat('a', 1000) SIMILAR TO '(a*)*b' || i",
    "SELECT list_reduce(range(100000000), lambda x, y: (x * y) % 1000003)",
    "SELECT sum(list_sum(list_transform(range(10000), lambda x: sin(x + i)))) FROM range(10000000) AS t(i)",
    "SELECT quantile_cont(sin(i), 0.5) OVER (ORDER BY i ROWS 1000000 PRECEDING) FROM range(10000000) AS t(i)",
    "SELECT mode(i) OVER (ORDER BY i ROWS BETWEEN 100000 PRECEDING AND 100000 FOLLOWING) FROM range(5000000) AS t(i)",
    "SELECT (SELECT count(*) FROM range(1000000) b WHERE b.range % 7 = a.range % 7) FROM range(1000000) a",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "SELECT " + " + ".join(["1"] * 50_000),
    "SELECT " + "[" * 3000 + "1" + "]" * 3000,
    "SELECT * FROM " + ", ".join(f"range(10) AS t{i}" for i in range(60)),
    "WITH c0 AS (FROM range(10)), "
    + ", ".join(f"c{i} AS (FROM c{i - 1} UNION ALL FROM c{i - 1})" for i in range(1, 25))
    + " SELECT count(*) FROM c24",
    "SELECT 1 FROM " + " JOIN ".join(f"range(3) AS t{i}(i) ON true" if i else "range(3) AS t0(i)" for i in range(40)),
    "SELECT bit_count(sha256(repeat('x', 100000000) || i)::BIT) FROM range(100000) AS t(i)",
    "SELECT count(*) FROM range(100000000) t(i) WHERE hash(repeat('x', 10000) || i) = 0",
)
"""What would run for ever, or for much longer than it may."""

DISK = (
    "SELECT count(*) FROM (SELECT i, repeat('x', 200) || i AS t FROM range(200000000) AS t(i) ORDER BY t)",
    "SELECT count(*) FROM (SELECT hash(i) AS h, count(*) AS n FROM range(1000000000) AS t(i) GROUP BY h)",
    "SELECT count(*) FROM range(300000000) a(i) JOIN range(300000000) b(i) ON hash(a.i) = hash(b.i)",
    "WITH x AS MATERIALIZED (SELECT repeat('x', 200) || i AS t FROM range(200000000) AS t(i)) SELECT count(*) FROM x",
    "SELECT DISTINCT repeat('x', 300) || i FROM range(100000000) AS t(i)",
)
"""What lays aside on disk more than it may."""

BOMBS = (*MEMORY, *TIME, *DISK)
SAMPLE = tuple(itertools.chain(MEMORY[:2], MEMORY[21:22], TIME[:1], TIME[6:7], DISK[:1], OUTSIDE[3:4]))
"""One of each kind that DuckDB does not stop itself."""
