"""The catalogue of cricket's lines: roles, and the keys of their values with labels."""

ROLES = {
    "batting": "Batting",
    "bowling": "Bowling",
    "fielding": "Fielding",
    "side": "Innings",
    "partnership-": "Partnership",
}
"""Role → label; the number of a partnership follows its dash."""

KEYS = {
    "batting": {
        "position": "Position",
        "runs": "Runs",
        "balls": "Balls faced",
        "fours": "Fours",
        "sixes": "Sixes",
        "dots": "Dot balls",
        "status": "Status",
        "out_kind": "How out",
        "out_bowler": "Bowler",
        "out_fielders": "Fielders",
        "fall_runs": "Side's runs at the fall",
        "fall_wicket": "Wicket",
        "fall_over": "Over of the fall",
    },
    "bowling": {
        "balls": "Balls",
        "overs": "Overs",
        "maidens": "Maidens",
        "runs": "Runs conceded",
        "wickets": "Wickets",
        "wides": "Runs from wides",
        "no_balls": "Runs from no-balls",
        "dots": "Dot balls",
        "fours": "Fours conceded",
        "sixes": "Sixes conceded",
    },
    "fielding": {"catches": "Catches", "stumpings": "Stumpings", "run_outs": "Run-outs"},
    "side": {
        "runs": "Runs",
        "wickets": "Wickets",
        "balls": "Legal balls",
        "overs": "Overs",
        "byes": "Byes",
        "leg_byes": "Leg byes",
        "wides": "Wides",
        "no_balls": "No-balls",
        "penalty": "Penalty runs",
        "closed": "Closed by",
        "target": "Target",
        "unaccounted": "Runs in nobody's figures",
        "set": "Times set by hand",
    },
    "partnership-": {
        "batters": "Batters",
        "runs": "Runs",
        "balls": "Balls",
        "wicket": "For wicket",
        "unbroken": "Unbroken",
    },
}
"""Role → key → label."""
