-- Moving a match to another version of its sport.

CREATE FUNCTION commit_move(
    item commit_item, changed_from bigint, new_position bigint, gone_lines commit_line[], gone_parts text[],
    patience_ms integer, from_code text
) RETURNS commit_outcome[] LANGUAGE plpgsql AS $$
DECLARE
    board    record;
    rules    uuid;
    outcomes commit_outcome[];
BEGIN
    PERFORM set_config('lock_timeout', patience_ms::text, true);
    SELECT f.last_seq, f.sport_id, b.epoch, b.code_sha INTO board
      FROM fixture f JOIN scoreboard b ON b.fixture_id = f.id
     WHERE f.id = item.match
       FOR NO KEY UPDATE OF f;
    IF NOT FOUND OR board.last_seq <> item.expect_seq THEN
        RETURN commit_batch(ARRAY[item]);  -- which says why not
    END IF;
    -- Who retires a version counts the matches on it: he waits for this one, or it finds the version retired.
    SELECT v.id INTO rules FROM scoring_program_version v
     WHERE v.sport_id = board.sport_id AND v.code_sha = item.code_sha AND v.status <> 'RETIRED'
       FOR SHARE;
    IF rules IS NULL OR board.code_sha <> from_code THEN
        RETURN ARRAY[ROW (1, 'code', board.last_seq, board.epoch, board.code_sha)::commit_outcome];
    END IF;
    BEGIN
        UPDATE scoreboard b SET code_sha = item.code_sha, rules_id = rules WHERE b.fixture_id = item.match;
        UPDATE fixture f SET scoring_program_version_id = rules WHERE f.id = item.match;
        outcomes := commit_correction(item, changed_from, new_position, gone_lines, gone_parts, patience_ms);
        IF outcomes[1].kind <> 'committed' THEN
            RAISE EXCEPTION USING ERRCODE = 'SBNOT', MESSAGE = 'not committed';
        END IF;
    EXCEPTION WHEN SQLSTATE 'SBNOT' THEN
        NULL;  -- all of it is taken back; the outcome says why
    END;
    RETURN outcomes;
EXCEPTION WHEN lock_not_available THEN
    RETURN ARRAY[ROW (1, 'busy', NULL, NULL, NULL)::commit_outcome];
END $$;
COMMENT ON FUNCTION commit_move IS
    'Saves a move to another version: as commit_correction, worked out by the item''s code, to which the match is '
    'pinned from here on. from_code is the one it is pinned to until then.';
