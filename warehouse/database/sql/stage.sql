-- The staging tables of a batch; what was in them before is gone.
CREATE OR REPLACE TEMP TABLE staged_segment (
  file_no INTEGER NOT NULL, segment INTEGER NOT NULL, position INTEGER, domain VARCHAR, document VARCHAR,
  index_in_document INTEGER, is_declared BOOLEAN DEFAULT true, phenomenon VARCHAR, phenomenon_class VARCHAR
);
CREATE OR REPLACE TEMP TABLE staged_system (
  file_no INTEGER NOT NULL, name VARCHAR NOT NULL, kind VARCHAR NOT NULL
);
CREATE OR REPLACE TEMP TABLE staged_spelling (
  evalset_no INTEGER NOT NULL, spelling VARCHAR NOT NULL, system VARCHAR NOT NULL, rule VARCHAR NOT NULL
);
CREATE OR REPLACE TEMP TABLE staged_renumbering (evalset_no INTEGER NOT NULL, old INTEGER NOT NULL, new INTEGER);
CREATE OR REPLACE TEMP TABLE staged_text (
  file_no INTEGER NOT NULL, kind VARCHAR NOT NULL, name VARCHAR, segment INTEGER NOT NULL, text VARCHAR NOT NULL
);
CREATE OR REPLACE TEMP TABLE staged_vector (
  vector_no INTEGER NOT NULL, file_no INTEGER NOT NULL, kind VARCHAR NOT NULL, scorer VARCHAR NOT NULL,
  base_name VARCHAR NOT NULL, reference VARCHAR, is_reference_free BOOLEAN NOT NULL, system VARCHAR NOT NULL,
  level VARCHAR NOT NULL, is_negated BOOLEAN NOT NULL, n_values INTEGER NOT NULL, n_missing INTEGER NOT NULL,
  status VARCHAR, is_own BOOLEAN DEFAULT false, is_derived BOOLEAN DEFAULT false
);
CREATE OR REPLACE TEMP TABLE staged_score (vector_no INTEGER NOT NULL, segment INTEGER NOT NULL, value DOUBLE);
CREATE OR REPLACE TEMP TABLE staged_aggregate (vector_no INTEGER NOT NULL, unit VARCHAR, value DOUBLE);
CREATE OR REPLACE TEMP TABLE staged_judgement (
  judgement_no INTEGER NOT NULL, vector_no INTEGER NOT NULL, segment INTEGER NOT NULL, rater VARCHAR, item VARCHAR,
  value DOUBLE, n INTEGER, time TIMESTAMP, status VARCHAR NOT NULL
);
CREATE OR REPLACE TEMP TABLE staged_span (
  judgement_no INTEGER NOT NULL, category VARCHAR, severity VARCHAR, weight DOUBLE, span_start INTEGER,
  span_end INTEGER, is_source_error BOOLEAN
);
CREATE OR REPLACE TEMP TABLE staged_preference (
  vector_a INTEGER NOT NULL, vector_b INTEGER NOT NULL, segment INTEGER NOT NULL, ranking INTEGER NOT NULL,
  rater VARCHAR, answer VARCHAR NOT NULL, is_same_output BOOLEAN NOT NULL
);
