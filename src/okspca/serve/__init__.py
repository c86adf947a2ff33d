"""A live process around models: it learns from many producers, answers many readers, loses nothing.

In the order of what comes in: :mod:`~okspca.serve.bodies` turns requests into rows,
:mod:`~okspca.serve.recorder` decides about them and writes them to the
:mod:`~okspca.serve.journal` before they are acknowledged, :mod:`~okspca.serve.learner` learns what
the journal says; :mod:`~okspca.serve.hosted` is one model with all of that, and
:mod:`~okspca.serve.hosts` all models.  :mod:`~okspca.serve.app` puts them on the web.
"""
