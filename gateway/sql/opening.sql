-- Creating a match: everything in one transaction, one sport at a time.

-- name: lock_openings
-- Openings of one sport wait for each other, so that two never make the same party or competition.
SELECT pg_advisory_xact_lock(hashtextextended('scorebox.open.' || $1, 0))

-- name: match_of_external_id
-- The match that has an outside id, and its sport.
SELECT f.id, s.code AS sport
  FROM external_id_map m JOIN fixture f ON f.id = m.internal_id JOIN sport s ON s.id = f.sport_id
 WHERE m.source_code = $1 AND m.entity_type = 'fixture' AND m.external_id = $2

-- name: add_external_id
INSERT INTO external_id_map (id, source_code, entity_type, external_id, internal_id, origin, created_by)
VALUES ($1, $2, $3, $4, $5, 'onboarding', $6)

-- name: ensure_sport
INSERT INTO sport (id, code, name) VALUES ($1, $2, $3)
ON CONFLICT (code) DO UPDATE SET name = sport.name
RETURNING id, competitor_kind

-- name: ensure_version
-- The version that has this code. Equal code has an equal manifest, so a row that is there stays as it is.
-- No row where it is retired.
INSERT INTO scoring_program_version (id, sport_id, version, code_sha, manifest) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (sport_id, code_sha) DO UPDATE SET code_sha = excluded.code_sha
 WHERE scoring_program_version.status <> 'RETIRED'
RETURNING id

-- name: find_competition
-- A competition by its code: of the sport, else one above all sports.
SELECT c.id, c.format_code FROM competition c
 WHERE c.code = $2 AND (c.sport_id = $1 OR c.sport_id IS NULL)
 ORDER BY c.sport_id NULLS LAST LIMIT 1

-- name: add_competition
INSERT INTO competition (id, sport_id, type, code, name) VALUES ($1, $2, 'competition', $3, $3)

-- name: parties_by_external_id
-- Parties by outside ids, a merged one as the record that survived.
WITH RECURSIVE found (source_code, external_id, id) AS (
    SELECT m.source_code, m.external_id, m.internal_id
      FROM external_id_map m
      JOIN unnest($1::text[], $2::text[]) AS asked (source, id) ON m.source_code = asked.source AND m.external_id = asked.id
     WHERE m.entity_type = 'participant'
    UNION
    SELECT f.source_code, f.external_id, p.merged_into_id
      FROM found f JOIN participant p ON p.id = f.id WHERE p.merged_into_id IS NOT NULL
)
SELECT f.source_code, f.external_id, p.id
  FROM found f JOIN participant p ON p.id = f.id WHERE p.merged_into_id IS NULL

-- name: parties_by_code
-- Parties of a sport, or of all sports, by code, with the sources that know them under an id of theirs.
WITH RECURSIVE found (code, id) AS (
    SELECT p.code, p.id FROM participant p
     WHERE p.code = ANY ($2::text[]) AND (p.sport_id = $1 OR p.sport_id IS NULL)
    UNION
    SELECT f.code, p.merged_into_id FROM found f JOIN participant p ON p.id = f.id WHERE p.merged_into_id IS NOT NULL
)
SELECT f.code, p.id, p.type, p.name, p.sport_id,
       ARRAY(SELECT m.source_code FROM external_id_map m
              WHERE m.entity_type = 'participant' AND m.internal_id = p.id) AS sources
  FROM found f JOIN participant p ON p.id = f.id WHERE p.merged_into_id IS NULL

-- name: add_parties
INSERT INTO participant (id, sport_id, code, type, name)
SELECT n.id, $1, n.code, n.type, n.name
  FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) AS n (id, code, type, name)

-- name: add_party_sports
INSERT INTO participant_sport (participant_id, sport_id) SELECT n, $1 FROM unnest($2::uuid[]) AS n

-- name: add_party_external_ids
INSERT INTO external_id_map (id, source_code, entity_type, external_id, internal_id, origin, created_by)
SELECT n.id, n.source, 'participant', n.external, n.internal, 'onboarding', $5
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[]) AS n (id, source, external, internal)

-- name: add_fixture
INSERT INTO fixture (id, sport_id, competition_id, code, name, archetype, format_code, status, first_day, format,
                     last_seq, scoring_program_version_id)
VALUES ($1, $2, $3, $4, $5, 'HEAD_TO_HEAD', $6, 'SCHEDULED', $7, $8::jsonb, 1, $9)

-- name: add_competitors
INSERT INTO fixture_competitor (id, fixture_id, participant_id, parent_id, key, name, ordinal)
SELECT n.id, $1, n.participant, n.parent, n.key, n.name, n.ordinal
  FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::integer[])
       AS n (id, participant, parent, key, name, ordinal)

-- name: add_stream
INSERT INTO ledger_stream (id, subject_kind, subject_id) VALUES ($1, 'fixture', $1)

-- name: add_opening
-- The first row of a log: its payload is the whole input of the sport's initial state.
INSERT INTO timeline_item (stream_id, seq, epoch, event_type, payload, actor, device, source_code, received_at, state_hash)
VALUES ($1, 1, 1, 'match.open', $2::json, $3, $4, $5, $6, $7)

-- name: add_scoreboard
INSERT INTO scoreboard (fixture_id, snapshot, last_seq, events_seq, position, epoch, rules_id, code_sha, state_hash)
VALUES ($1, $2::json, 1, 1, 0, 1, $3, $4, $5)

-- name: add_parts
INSERT INTO published_document (fixture_id, segment, body, last_seq, epoch)
SELECT $1, n.segment, n.body::json, 1, 1 FROM unnest($2::text[], $3::text[]) AS n (segment, body)

-- name: add_note
INSERT INTO domain_event (fixture_id, seq, epoch, event_type) VALUES ($1, 1, 1, 'match.open')
