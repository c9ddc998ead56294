"""The schema of the configuration: the type, range and meaning of every setting.

A setting with a default may be left out of a config file; the numbers of a protocol may not. Rules
between settings are in `config.checks`; the values are in config/paper/protocol.yaml and
config/config.yaml.
"""
