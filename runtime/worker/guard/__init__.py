"""The guard of a worker: what keeps a sport's code to the state and the event it is given (design section 4).

Put up before the sport is imported, because what a module does at its import is not trusted either. Layers,
each on its own feet:

    limits   resource limits (`runtime.worker.limits`)
    audit    an audit hook and named refusals of clock and chance: an exception with a sentence, in Python
    seccomp  an allow-list of system calls, in the kernel
    landlock files: nothing but the standard library and the version's folder can be read, nothing written

The first two tell an honest author what is wrong, and can be got around by one who wants to. The last two
cannot: they are the kernel's. What was put up is then tried (`probe`), and what was found is the level.
Nothing here imports the server, and nothing but the interpreter is needed.
"""
