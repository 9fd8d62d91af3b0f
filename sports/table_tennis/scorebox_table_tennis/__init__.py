"""Table tennis by the ITTF Laws: singles and doubles, games to 11 or 21, best of any odd number of games."""

from scorebox_contract import EventSport
from scorebox_table_tennis.sport import TableTennis

SPORT: EventSport = TableTennis()

__all__ = ["SPORT", "TableTennis"]
