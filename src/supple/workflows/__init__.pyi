"""What the commands do, as Python functions: typed options, progress, and a typed result."""

from supple.workflows.converting import ConvertResult as ConvertResult
from supple.workflows.converting import convert as convert
from supple.workflows.demonstration import demo as demo
from supple.workflows.describing import describe as describe
from supple.workflows.designing import DesignResult as DesignResult
from supple.workflows.designing import Shown as Shown
from supple.workflows.designing import design as design
from supple.workflows.forecast import Forecast as Forecast
from supple.workflows.matching import MatchResult as MatchResult
from supple.workflows.matching import match as match
from supple.workflows.playing import PlayResult as PlayResult
from supple.workflows.playing import play as play
from supple.workflows.reducing import ReduceResult as ReduceResult
from supple.workflows.reducing import reduce as reduce
from supple.workflows.running import Exported as Exported
from supple.workflows.running import RunResult as RunResult
from supple.workflows.running import run as run
from supple.workflows.solids import Filling as Filling
