"""Input of the drop-in: accepted, refused and warned about as scikit-learn does, in words that also say where."""

from fastevals._validation.drop_in.arrays import *
from fastevals._validation.drop_in.complaints import *
from fastevals._validation.drop_in.outputs import *
from fastevals._validation.drop_in.parameters import *
from fastevals._validation.drop_in.predicted import *
from fastevals._validation.drop_in.probabilities import *
from fastevals._validation.drop_in.scores import *
from fastevals._validation.drop_in.targets import *
