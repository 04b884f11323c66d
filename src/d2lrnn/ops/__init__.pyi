from . import callbacks as callbacks
from . import checkpoint as checkpoint
from . import corpus as corpus
from . import device as device
from . import files as files
from . import ranks as ranks
from . import scoring as scoring
from . import stream as stream
