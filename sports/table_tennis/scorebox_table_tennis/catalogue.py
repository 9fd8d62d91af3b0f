"""What lines there are: their roles, and the keys of their values."""

ROLES = {"side": "Side in a game", "player": "Player in a game", "match": "Side in the match"}
"""Lines of roles side and player are of a game ("game-1"), those of role match of the segment "match"."""

KEYS = {
    "side": {
        "points": "Points",
        "serves": "Points served",
        "serves_won": "Points won on service",
        "receives_won": "Points won on receiving",
        "penalty": "Points from the other side's penalties",
        "won": "Won the game",
        "set": "The score was set",
    },
    "player": {
        "serves": "Points served",
        "serves_won": "Points won on service",
        "receives": "Points received",
        "receives_won": "Points won on receiving",
    },
    "match": {
        "games": "Games",
        "points": "Points",
        "serves": "Points served",
        "serves_won": "Points won on service",
        "receives_won": "Points won on receiving",
        "penalty": "Points from the other side's penalties",
        "time_outs": "Time-outs",
        "yellow_cards": "Yellow cards",
        "yellow_red_cards": "Yellow and red cards",
        "red_cards": "Red cards",
    },
}
"""Role → key → label. Points of a score that was set belong to neither service nor penalty."""
