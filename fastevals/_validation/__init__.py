"""Array-likes into clean arrays; the only place that raises about input.

What would cost a pass over the data (a NaN, a third label) is found by the pass that needs the data anyway; the
finder then calls `raise_not_finite` or `raise_not_binary`, which look again to say what is wrong and where.
"""

from fastevals._validation.arrays import *
from fastevals._validation.bias_variance import *
from fastevals._validation.classes import *
from fastevals._validation.costs import *
from fastevals._validation.curves import *
from fastevals._validation.estimates import *
from fastevals._validation.folds import *
from fastevals._validation.groups import *
from fastevals._validation.labels import *
from fastevals._validation.models import *
from fastevals._validation.options import *
from fastevals._validation.predicted_labels import *
from fastevals._validation.rows import *
from fastevals._validation.selection import *
from fastevals._validation.splits import *
from fastevals._validation.tables import *
from fastevals._validation.training_sets import *
