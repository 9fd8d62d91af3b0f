-- The one grouped commit call.

CREATE TYPE commit_line AS (participant uuid, role text, segment text, "values" text);
COMMENT ON TYPE commit_line IS 'A changed line: whole values.';
CREATE TYPE commit_part AS (segment text, body text);
COMMENT ON TYPE commit_part IS 'A changed part of the document; segment '''' is the head.';
CREATE TYPE commit_rank AS (key text, rank integer);
COMMENT ON TYPE commit_rank IS 'The finishing place of a side.';
CREATE TYPE commit_player AS (id uuid, participant uuid, key text, name text, side text);
COMMENT ON TYPE commit_player IS 'A player who joins: ids of the entry and of the participant, both made by the sender.';

CREATE TYPE commit_item AS (
    match        uuid,
    id           uuid,
    expect_seq   bigint,
    code_sha     text,
    code         text,
    input        text,
    override     text[],
    account      text,
    device       text,
    provider     text,
    sent_at      timestamptz,
    received_at  timestamptz,
    state        text,
    state_hash   bytea,
    summary      text,
    emits        text[],
    warnings     text,
    status       text,
    result       text,
    lines_before text,
    lines        commit_line[],
    parts        commit_part[],
    ranks        commit_rank[],
    joined       commit_player[]
);
COMMENT ON TYPE commit_item IS 'One command ready to be saved. JSON travels as text and is checked when it is stored.';

CREATE TYPE commit_outcome AS (item bigint, kind text, seq bigint, epoch bigint, detail text);
COMMENT ON TYPE commit_outcome IS
    'What became of an item (1-based): committed, known, stale, busy, code, unknown or malformed. '
    'seq is the item''s (committed, known) or the match''s newest (stale); detail the match''s code_sha or an error.';

CREATE FUNCTION commit_joined(item commit_item, sport uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO participant (id, sport_id, code, type, name)
    SELECT p.participant, sport,
           -- Codes are unique in a sport: a taken one gets a tail of the player's own id.
           CASE WHEN EXISTS (SELECT FROM participant x WHERE x.sport_id = sport AND x.code = p.key)
                THEN left(p.key, 51) || '-' || right(p.participant::text, 12) ELSE p.key END,
           'PERSON', p.name
      FROM unnest(item.joined) p;
    INSERT INTO participant_sport (participant_id, sport_id) SELECT p.participant, sport FROM unnest(item.joined) p;
    INSERT INTO fixture_competitor (id, fixture_id, participant_id, parent_id, key, name, ordinal)
    SELECT p.id, item.match, p.participant, side.id, p.key, p.name,
           p.n - 1 + (SELECT count(*) FROM fixture_competitor c WHERE c.fixture_id = item.match AND c.parent_id = side.id)
      FROM unnest(item.joined) WITH ORDINALITY AS p (id, participant, key, name, side, n)
      JOIN fixture_competitor side ON side.fixture_id = item.match AND side.key = p.side;
END $$;
COMMENT ON FUNCTION commit_joined IS 'Players who join a match: participant, its sport, and the entry under its side.';

CREATE FUNCTION commit_item(item commit_item, n bigint) RETURNS commit_outcome LANGUAGE plpgsql AS $$
DECLARE
    board record;
    seq   bigint := item.expect_seq + 1;
BEGIN
    -- Somebody else's lock is not waited for.
    SELECT f.last_seq, f.first_day, f.sport_id, f.competition_id, f.format_code,
           b.epoch, b.position + 1 AS position, b.code_sha
      INTO board
      FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id
     WHERE f.id = item.match
       FOR NO KEY UPDATE OF f SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN ROW (n, 'busy', NULL, NULL, NULL)::commit_outcome;
    ELSIF board.last_seq <> item.expect_seq THEN
        RETURN ROW (n, 'stale', board.last_seq, board.epoch, NULL)::commit_outcome;
    ELSIF board.code_sha <> item.code_sha THEN
        RETURN ROW (n, 'code', board.last_seq, board.epoch, board.code_sha)::commit_outcome;
    END IF;

    INSERT INTO timeline_item (
        stream_id, seq, epoch, event_type, payload, override, idempotency_key, actor, device, source_code,
        sent_at, received_at, state_hash, emits, warnings, lines_before)
    VALUES (
        item.match, seq, board.epoch, item.code, item.input::json, item.override, item.id, item.account, item.device,
        item.provider, item.sent_at, item.received_at, item.state_hash, item.emits, item.warnings::json,
        item.lines_before::json);
    INSERT INTO domain_event (fixture_id, seq, epoch, event_type, emits)
    VALUES (item.match, seq, board.epoch, item.code, item.emits);
    UPDATE fixture f
       SET last_seq = seq, status = item.status, result = item.result::jsonb, updated_at = now()
     WHERE f.id = item.match;
    UPDATE scoreboard b
       SET snapshot = item.state::json, summary = item.summary::json, last_seq = seq, events_seq = seq,
           position = board.position, state_hash = item.state_hash, updated_at = now()
     WHERE b.fixture_id = item.match;
    IF board.position % 50 = 0 THEN
        INSERT INTO scoring_checkpoint (fixture_id, epoch, position, seq, code_sha, state, state_hash)
        VALUES (item.match, board.epoch, board.position, seq, item.code_sha, item.state::json, item.state_hash);
    END IF;
    IF cardinality(item.joined) > 0 THEN
        PERFORM commit_joined(item, board.sport_id);
    END IF;
    INSERT INTO stat_value (
        fixture_id, subject_id, subject_role, segment, occurred_on, sport_id, competition_id, format_code,
        computed, last_seq)
    SELECT item.match, l.participant, l.role, l.segment, board.first_day, board.sport_id, board.competition_id,
           board.format_code, l."values"::json, seq
      FROM unnest(item.lines) l
        ON CONFLICT (fixture_id, subject_id, subject_role, segment, occurred_on)
        DO UPDATE SET computed = excluded.computed, last_seq = excluded.last_seq, updated_at = now();
    INSERT INTO published_document (fixture_id, segment, body, last_seq, epoch)
    SELECT item.match, p.segment, p.body::json, seq, board.epoch
      FROM unnest(item.parts) p
        ON CONFLICT (fixture_id, segment)
        DO UPDATE SET body = excluded.body, last_seq = excluded.last_seq, epoch = excluded.epoch, updated_at = now();
    IF cardinality(item.ranks) > 0 THEN
        UPDATE fixture_competitor c
           SET rank = r.rank, result_status = 'FINISHED', updated_at = now()
          FROM unnest(item.ranks) r
         WHERE c.fixture_id = item.match AND c.key = r.key;
    END IF;
    RETURN ROW (n, 'committed', seq, board.epoch, NULL)::commit_outcome;
END $$;
COMMENT ON FUNCTION commit_item IS
    'Saves one command: log row, note, match row, state, checkpoint, lines, document. Or says why not: busy, stale, code. '
    'An id that is in the log already is an error of uq_timeline_item_idempotency, or stale.';

CREATE FUNCTION commit_batch(items commit_item[]) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
DECLARE
    outcomes commit_outcome[] := '{}';
    outcome  commit_outcome;
    item     commit_item;
    earlier  record;
    n        bigint := 0;
BEGIN
    FOREACH item IN ARRAY items LOOP
        n := n + 1;
        BEGIN
            outcome := commit_item(item, n);
        EXCEPTION
            WHEN lock_not_available OR deadlock_detected THEN
                outcome := ROW (n, 'busy', NULL, NULL, NULL);
            WHEN OTHERS THEN
                -- Faults of the item (data, constraints, limits) are its own; the rest is the server's.
                IF left(SQLSTATE, 2) NOT IN ('22', '23', '54', 'P0') THEN
                    RAISE;
                END IF;
                outcome := ROW (n, 'malformed', NULL, NULL, SQLERRM);
        END;
        IF outcome.kind IN ('stale', 'busy', 'malformed') THEN
            SELECT t.seq, t.epoch INTO earlier FROM timeline_item t
             WHERE t.stream_id = item.match AND t.idempotency_key = item.id;
            IF FOUND THEN
                outcome := ROW (n, 'known', earlier.seq, earlier.epoch, NULL);
            ELSIF outcome.kind = 'busy' AND NOT EXISTS (SELECT FROM fixture f WHERE f.id = item.match) THEN
                outcome := ROW (n, 'unknown', NULL, NULL, NULL);
            END IF;
        END IF;
        outcomes := outcomes || outcome;
    END LOOP;
    RETURN outcomes;
END $$;
COMMENT ON FUNCTION commit_batch IS
    'Saves commands of different matches in one transaction, each in a block of its own: whatever is wrong with one '
    '(busy, stale, malformed) spoils no other. The outcomes come in the order of the items.';

CREATE FUNCTION commit_patiently(item commit_item, patience_ms integer) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lock_timeout', patience_ms::text, true);
    PERFORM FROM fixture f WHERE f.id = (item).match FOR NO KEY UPDATE;
    RETURN commit_batch(ARRAY[item]);
EXCEPTION WHEN lock_not_available THEN
    RETURN ARRAY[ROW (1, 'busy', NULL, NULL, NULL)::commit_outcome];
END $$;
COMMENT ON FUNCTION commit_patiently IS 'Saves one item of a match that somebody else held, waiting so long for its lock.';

GRANT USAGE ON SCHEMA public TO scorebox_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO scorebox_server;
REVOKE UPDATE, DELETE, TRUNCATE ON timeline_item FROM scorebox_server;
REVOKE ALL ON ledger_stream FROM scorebox_server;
GRANT SELECT, INSERT ON ledger_stream TO scorebox_server;
