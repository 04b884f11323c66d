"""d2lrnn: the helper package of *Hidden State*, an interactive book about recurrent neural networks.

Data flows one way, and each module imports only from those before it::

    corpus -> text, stream -> batching -> recurrent, gated, closed_form -> metrics -> language_model
        -> checkpoint, distributed -> optim -> resuming, stepping -> training -> decoding, coding, scoring
    device, bptt, ngram, manual, manual_model, pretrained, scan

`d2lrnn.plotting` (needs matplotlib) and `d2lrnn.widgets` (needs anywidget) sit on top and are imported on demand,
so that ``import d2lrnn`` is as quick as ``import torch``.
"""

from d2lrnn.batching import RandomWindows, SequentialWindows
from d2lrnn.bptt import (
    LagGradients,
    gradients_by_lag,
    random_factors,
    scale_to_spectral_radius,
    spectral_radius,
    step_jacobian,
    truncated_gradient,
    window_factors,
)
from d2lrnn.checkpoint import Checkpoint, CheckpointError, load_checkpoint, save_checkpoint
from d2lrnn.coding import compress, decompress
from d2lrnn.corpus import CORPORA, DEFAULT_CORPUS, CorpusError, load_corpus
from d2lrnn.decoding import generate, next_token_probs, warm_up
from d2lrnn.device import describe_device, pick_device, seed_everything
from d2lrnn.distributed import DistributedError, Ranks, join_ranks
from d2lrnn.gated import GRUConcise, LSTMConcise
from d2lrnn.language_model import RNNLM, evaluate
from d2lrnn.manual import (
    StepGradients,
    TimeAffine,
    TimeEmbedding,
    TimeRNN,
    TimeSoftmaxWithLoss,
    rnn_step_backward,
    rnn_step_forward,
)
from d2lrnn.manual_model import ManualRNNLM, fit_manual
from d2lrnn.metrics import Score, bits_per_token, cross_entropy, perplexity, score_logits, surprise_bits
from d2lrnn.ngram import NGramLM
from d2lrnn.optim import SGD, AdamW, cycled_momentum, learning_rate
from d2lrnn.pretrained import STAGES, Pretrained, load_pretrained, pretrained_bytes, save_pretrained
from d2lrnn.recurrent import RNNConcise, RNNScratch, rnn_step
from d2lrnn.resuming import Checkpoints, TrainingInterruptedError
from d2lrnn.scan import ScanLevel, linear_recurrence_loop, linear_recurrence_scan, scan_levels
from d2lrnn.scoring import LineScore, TextScore, score_text
from d2lrnn.stepping import AutogradStepper, ClosedFormStepper, FlatParameters, Stepper, make_stepper
from d2lrnn.stream import StreamedText, stream_text
from d2lrnn.text import EncodedText, Vocab, load_text, normalize, tokenize
from d2lrnn.training import EpochRecord, History, TrainingDivergedError, clip_gradients, fit

__version__ = "0.1.0"

__all__ = [
    "CORPORA",
    "DEFAULT_CORPUS",
    "RNNLM",
    "SGD",
    "STAGES",
    "AdamW",
    "AutogradStepper",
    "Checkpoint",
    "CheckpointError",
    "Checkpoints",
    "ClosedFormStepper",
    "CorpusError",
    "DistributedError",
    "EncodedText",
    "EpochRecord",
    "FlatParameters",
    "GRUConcise",
    "History",
    "LSTMConcise",
    "LagGradients",
    "LineScore",
    "ManualRNNLM",
    "NGramLM",
    "Pretrained",
    "RNNConcise",
    "RNNScratch",
    "RandomWindows",
    "Ranks",
    "ScanLevel",
    "Score",
    "SequentialWindows",
    "StepGradients",
    "Stepper",
    "StreamedText",
    "TextScore",
    "TimeAffine",
    "TimeEmbedding",
    "TimeRNN",
    "TimeSoftmaxWithLoss",
    "TrainingDivergedError",
    "TrainingInterruptedError",
    "Vocab",
    "bits_per_token",
    "clip_gradients",
    "compress",
    "cross_entropy",
    "cycled_momentum",
    "decompress",
    "describe_device",
    "evaluate",
    "fit",
    "fit_manual",
    "generate",
    "gradients_by_lag",
    "join_ranks",
    "learning_rate",
    "linear_recurrence_loop",
    "linear_recurrence_scan",
    "load_checkpoint",
    "load_corpus",
    "load_pretrained",
    "load_text",
    "make_stepper",
    "next_token_probs",
    "normalize",
    "perplexity",
    "pick_device",
    "pretrained_bytes",
    "random_factors",
    "rnn_step",
    "rnn_step_backward",
    "rnn_step_forward",
    "save_checkpoint",
    "save_pretrained",
    "scale_to_spectral_radius",
    "scan_levels",
    "score_logits",
    "score_text",
    "seed_everything",
    "spectral_radius",
    "step_jacobian",
    "stream_text",
    "surprise_bits",
    "tokenize",
    "truncated_gradient",
    "warm_up",
    "window_factors",
]
